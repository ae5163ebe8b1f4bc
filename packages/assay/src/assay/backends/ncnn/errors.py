"""What pnnx and ncnn say: from words to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re

from assay.backends.converter import Converted
from assay.backends.errors import onnxruntime_failure
from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, OutOfMemory, Unsupported

Failure = Lowering | MemoryError

_RUNTIME = re.compile(r"ort (?:CreateSession|Run) failed ([^\n]+)")
_MEMORY = re.compile(r"bad_alloc|[Oo]ut of memory|Cannot allocate memory")
_UNHANDLED = re.compile(r"^(?:todo|fallback|unsupported) (\S+)", re.MULTILINE)
_PASS = re.compile(r"^#+ ?(pass_\w+)", re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def conversion_failure(done: Converted) -> Failure:
    """Of a run of pnnx 20261020 that wrote no network. It folds constants with an ONNX Runtime of its own, whose words
    are the ones that tell."""
    inner = _RUNTIME.search(done.text)
    if inner:
        return onnxruntime_failure(inner.group(1))
    if _MEMORY.search(done.text):
        return MemoryError(_tail(done.text))
    node = _last(_UNHANDLED, done.text)
    stage = _last(_PASS, done.text)
    reason = stage or _tail(done.text) or noted(BackendCode.SAID_NOTHING)
    if stage and node:
        reason = noted(BackendCode.IN_PASS, step=stage, node=node)
    if done.signal:
        note = noted(BackendCode.CONVERTER_DIED, library="pnnx", signal=done.signal, error=reason)
        return Lowering(note, node=node)
    return Lowering(noted(BackendCode.NOTHING_CONVERTED, library="pnnx", error=reason), node=node)


def missing_layers(kinds: dict[str, str]) -> Unsupported:
    """Of layers (kind to name of the first) that pnnx wrote down and that ncnn does not have."""
    names = ", ".join(sorted(kinds))
    return Unsupported(
        noted(BackendCode.NO_LAYER, names=names),
        node=next(iter(kinds.values())),
        cause=Cause.OPERATOR_UNSUPPORTED.value,
    )


def artifact_failure(name: str) -> InvalidModel:
    """An artifact that ncnn does not read; why is only on standard error, which the worker keeps."""
    return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="ncnn", error=name))


def run_failure(output: str, code: int) -> Failure:
    """Of what `Extractor.extract` answers; -100 is its word for memory."""
    if code == -100:
        return OutOfMemory(noted(BackendCode.NO_MEMORY_FOR, library="ncnn", output=output))
    return Lowering(noted(BackendCode.RUN_ANSWERED, call="extract", code=code))


def _tail(text: str, limit: int = 300) -> str:
    lines = [line for line in _COLOURS.sub("", text).splitlines() if line.strip() and " = " not in line]
    return " ".join(" ".join(lines).split())[-limit:]


def _last(pattern: re.Pattern[str], text: str) -> str:
    matches = pattern.findall(text)
    return str(matches[-1]) if matches else ""
