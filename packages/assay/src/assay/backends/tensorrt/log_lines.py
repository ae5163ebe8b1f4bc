"""What TensorRT says: the lines of its logger and of its error recorder, classified.

The wordings are those of public reports; the number behind each is an issue of NVIDIA/TensorRT where no project is named.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, NotRunnable, OutOfMemory, Unsupported

Failure = Lowering | MemoryError


class Kind(enum.StrEnum):
    """What a line is about. Those up to STALE_PLAN explain a failure; the rest are worth recording in a success."""

    NO_DEVICE = "no_device"
    MEMORY = "memory"
    OPERATOR = "operator"
    MODEL = "model"
    PROFILE = "profile"
    STALE_PLAN = "stale_plan"
    INTERNAL = "internal"
    PRECISION = "precision"
    NARROWED = "narrowed"
    LIBRARY = "library"
    TACTICS = "tactics"
    PLAIN = "plain"


class Line(msgspec.Struct, frozen=True):
    """One message. `severity` is TensorRT's own: INTERNAL_ERROR, ERROR, WARNING, INFO or VERBOSE."""

    severity: str
    text: str


_RULES: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (Kind.NO_DEVICE, r"CUDA initialization failure|no CUDA-capable device|CUDA driver version is insufficient"
                         r"|Unable to determine GPU|cudaErrorNoDevice|no kernel image is available"),
        # 565, 1701, 4360; ultralytics/ultralytics#14751
        (Kind.MEMORY, r"Requested amount of GPU memory|OutOfMemory|out of memory|FAILED_ALLOCATION|Error Code 5:"
                      r"|cudaErrorMemoryAllocation|Failed to allocate"),
        # 2756, 2625, 1775; open-mmlab/mmdeploy#2398, #38
        (Kind.OPERATOR, r"No importer registered for op|UNSUPPORTED_NODE|UNSUPPORTED_GRAPH|Plugin not found|could not find plugin"
                        r"|Could not find any implementation for node|Unsupported ONNX data type|UNSUPPORTED_GRAPH_ATTR"
                        r"|not supported|unsupported data ?type"),
        (Kind.PROFILE, r"no optimization profile has been defined|dynamic input is missing dimensions"
                       r"|does not satisfy any optimization profiles?|optimization profile is missing"
                       r"|Parameter check failed.*(?:setInputShape|satisfyProfile)|Static dimension mismatch"),
        # 574, 2176, 564; wang-xinyu/tensorrtx#664
        (Kind.STALE_PLAN, r"engine plan file is (?:not compatible|generated on an incompatible device)|Version tag does not match"
                          r"|Serialization assertion|magicTag|Engine deserialization failed|engine was built with"),
        (Kind.MODEL, r"INVALID_GRAPH|INVALID_NODE|INVALID_VALUE|MODEL_DESERIALIZE_FAILED|Failed to parse ONNX model"),
        (Kind.PRECISION, r"Missing scale and zero-point|fall back to non-int8|layer ?norm.*FP16|may cause overflow"
                         r"|converted to FP16|Subnormal FP16|cannot be represented|not consistent with requested precision"),
        # open-mmlab/mmdeploy#48, 2756
        (Kind.NARROWED, r"INT64 weights|outside the range of INT32 was clamped|cast down to INT32"),
        (Kind.LIBRARY, r"was linked against .* but loaded|different models? of devices is not recommended|lazy loading"),
        # 2035; onnx/onnx-tensorrt#758
        (Kind.TACTICS, r"insuff?icient memory (?:on requested size|to use tactic)|do not have sufficient (?:workspace )?memory"
                       r"|memory is insufficient|Skipping tactic"),
        (Kind.INTERNAL, r"Error Code \d+: |Internal Error|Assertion .* failed|INTERNAL_ERROR"),
    )
)  # fmt: skip

_STAMP = re.compile(
    r"^(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] )?(?:\[([VIWEF])\] )?(?:\[TRT\] )?(?:\[([VIWEF])\] )?(?:\[TRT\] )?"
)
_REMARKABLE = re.compile(r"deprecated|\bfus(?:e|ed|ing|ion)\b|fall(?:s|ing)? ?back|running on the GPU", re.IGNORECASE)
_LETTERS = {"V": "VERBOSE", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "INTERNAL_ERROR"}
_NODES = (
    re.compile(r"implementation for node (?:\{ForeignNode\[)?([^\]\.}]+)"),
    re.compile(r'node_of_\w+|While parsing node number \d+ \[\w+ -> "([^"]+)"'),
    re.compile(r"No importer registered for op: (\w+)"),
    re.compile(r"could not find plugin:? (\w+)"),
    re.compile(r"In node \d+ with name: (\S+)"),
)


def parse_log(text: str) -> tuple[Line, ...]:
    """The lines of trtexec or of the default logger, with or without their stamps."""
    lines = []
    for raw in text.splitlines():
        match = _STAMP.match(raw)
        letter = (match and (match.group(1) or match.group(2))) or ""
        body = raw[match.end() :].strip() if match else raw.strip()
        # trtexec's own check of the runtime writes without a stamp, and aborts.
        letter = letter or "E" * body.startswith("Cuda failure")
        if body:
            lines.append(Line(_LETTERS.get(letter, "INFO"), body))
    return tuple(lines)


def classify(line: Line) -> Kind:
    """By the words; the severity does not tell: TensorRT says the same thing as an error and as a warning."""
    return next((kind for kind, pattern in _RULES if pattern.search(line.text)), Kind.PLAIN)


def failure(lines: Sequence[Line], doing: str) -> Failure:
    """Why `doing` gave nothing: of all errors and warnings, what weighs most.

    "Could not find any implementation" behind skipped tactics is want of memory, not of an operator (2035, 4360).
    """
    loud = [line for line in lines if line.severity in ("INTERNAL_ERROR", "ERROR", "WARNING")]
    errors = [line for line in loud if line.severity != "WARNING"]
    starved = any(classify(line) is Kind.TACTICS for line in loud)
    order = (
        Kind.NO_DEVICE, Kind.MEMORY, Kind.STALE_PLAN, Kind.PROFILE, Kind.OPERATOR, Kind.MODEL, Kind.INTERNAL, Kind.PLAIN,
    )  # fmt: skip
    for kind in order:
        line = next((error for error in errors if classify(error) is kind), None)
        if line is not None:
            return _failure(kind, line, doing, starved=starved)
    return Lowering(noted(BackendCode.STEP_SILENT, library="TensorRT", step=doing))


def _failure(kind: Kind, line: Line, doing: str, *, starved: bool) -> Failure:
    words, node = short(line.text), node_of(line.text)
    note = noted(BackendCode.STEP_REFUSED, library="TensorRT", step=doing, error=words)
    match kind:
        case Kind.NO_DEVICE:
            return NotRunnable(noted(BackendCode.NO_DEVICE, device="CUDA", error=words))
        case Kind.MEMORY:
            return MemoryError(words)
        case Kind.OPERATOR if starved and "implementation for node" in line.text:
            return OutOfMemory(noted(BackendCode.TACTICS_SKIPPED, error=note))
        case Kind.OPERATOR:
            return Unsupported(note, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
        case Kind.STALE_PLAN:
            return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="TensorRT", error=words))
        case Kind.PROFILE:
            return Unsupported(noted(BackendCode.SIZES_NOT_NAMED, error=note), node=node)
        case Kind.MODEL:
            return InvalidModel(note, node=node)
        case _:
            return Lowering(note, node=node)


def node_of(text: str) -> str:
    """The node (or operator) that the words name, "" where they name none."""
    for pattern in _NODES:
        match = pattern.search(text)
        if match and match.groups() and match.group(1):
            return match.group(1).strip()
    return ""


def remarks(lines: Sequence[Line]) -> tuple[str, ...]:
    """What a successful build said that a person should know: precision given up, integers narrowed, libraries mixed, layers that were
    not fused, fell back, or will be gone."""
    remarkable = (Kind.PRECISION, Kind.NARROWED, Kind.LIBRARY)
    return tuple(dict.fromkeys(short(line.text) for line in lines if classify(line) in remarkable or _is_remark(line)))


def _is_remark(line: Line) -> bool:
    return line.severity == "WARNING" and _REMARKABLE.search(line.text) is not None


def short(text: str, limit: int = 400) -> str:
    """On one line."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


class Listener:
    """Keeps what TensorRT says, through a logger and an error recorder of its own classes."""

    def __init__(self, trt: Any) -> None:
        self.lines: list[Line] = []
        keep = self.lines

        class Logger(trt.ILogger):  # type: ignore[misc]
            def __init__(self) -> None:
                trt.ILogger.__init__(self)

            def log(self, severity: Any, msg: str) -> None:
                name = str(getattr(severity, "name", severity)).rpartition(".")[2]
                if name != "VERBOSE":
                    keep.append(Line(name, msg))

        self.logger = Logger()
        self.recorder = _recorder(trt, keep)


def _recorder(trt: Any, keep: list[Line]) -> Any:
    class Recorder(trt.IErrorRecorder):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IErrorRecorder.__init__(self)
            self._errors: list[tuple[Any, str]] = []

        def clear(self) -> None:
            self._errors.clear()

        def num_errors(self) -> int:
            return len(self._errors)

        def get_error_code(self, index: int) -> Any:
            return self._errors[index][0]

        def get_error_desc(self, index: int) -> str:
            return self._errors[index][1]

        def has_overflowed(self) -> bool:
            return False

        def report_error(self, code: Any, desc: str) -> bool:
            self._errors.append((code, desc))
            keep.append(Line("ERROR", f"{getattr(code, 'name', code)}: {desc}"))
            # True would end the process' use of the object: that is decided by what it returns.
            return False

    return Recorder()
