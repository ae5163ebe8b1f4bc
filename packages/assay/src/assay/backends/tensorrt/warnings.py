"""What TensorRT's warnings mean: the lines of its logger, of trtexec, or of a listener."""

from __future__ import annotations

from assay.backends.tensorrt.log_lines import Kind, classify, node_of, parse_log, short
from assay.backends.warning_rules import rule
from assay.core.native_warning import NativeWarning, WarningCode

_KINDS = {
    Kind.PRECISION: WarningCode.PRECISION_LOST,
    Kind.NARROWED: WarningCode.PRECISION_LOST,
    Kind.TACTICS: WarningCode.FALLBACK,
}
_WORDS = (
    rule(WarningCode.FUSION_SKIPPED, r"(?:cannot|can't|unable to|not|skip\w*) (?:be )?fus"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
    rule(WarningCode.FALLBACK, r"fall(?:s|ing)? ?back|GPU fallback|running on the GPU"),
)
PREFIX = "TensorRT: "


def read_warnings(text: str) -> tuple[NativeWarning, ...]:
    """Lines of the logger that are warnings, and what the listener of an engine passed on."""
    if text.startswith(PREFIX):
        return (_read(text.removeprefix(PREFIX)),)
    return tuple(_read(line.text) for line in parse_log(text) if line.severity == "WARNING")


def _read(text: str) -> NativeWarning:
    line = parse_log(text)[0] if text.strip() else None
    code = _KINDS.get(classify(line)) if line is not None else None
    if code is None:
        code = next((word for word, pattern in _WORDS if word and pattern.search(text)), WarningCode.OTHER)
    return NativeWarning(code, node_of(text), short(text))
