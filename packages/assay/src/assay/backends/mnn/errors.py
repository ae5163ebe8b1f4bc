"""What MNN's converter and runtime say: from words to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.backends.converter import Converted
from assay.backends.errors import first_match
from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unsupported

Failure = Lowering | MemoryError

_MISSING = re.compile(r"These Op Not Support: ([^\n]+)")
_MEMORY = re.compile(r"bad_alloc|[Oo]ut of memory|Alloc buffer error|alloc.* failed")
_INVALID = re.compile(r"Invalid ONNX Model|Invalid model file|Invalidate buffer")
_UNSIZED = re.compile(r"Compute Shape Error for (\S+)")
_CONTROL_FLOW = ("If", "While")
_NODES = (r"Compute Shape Error for (\S+)", r"Convert (?:Onnx|ONNX)'?s? Op (\S+)", r"Check it out ==> (\S+)")
_NOISE = re.compile(
    r"^(?:The device supports:|Start to |inputTensors|outputTensors|MNN use |\[\d\d:\d\d:\d\d\] :\d+: ONNX Model)"
)
SHAPES = 3
"""What `runSession` answers where the shapes could not be computed."""


def conversion_failure(done: Converted) -> Failure:
    """Of a run of the converter of MNN 3.6 that wrote no model. It exits with 0 whatever happens."""
    missing = _MISSING.search(done.text)
    if missing:
        names = ", ".join(sorted({name.removeprefix("ONNX::") for name in missing.group(1).split()}))
        return Unsupported(
            noted(BackendCode.NO_OPERATOR, library="MNN", names=names),
            node=names,
            cause=Cause.OPERATOR_UNSUPPORTED.value,
        )
    short = _short(done.text)
    if _MEMORY.search(done.text):
        return MemoryError(short)
    if _INVALID.search(done.text):
        return InvalidModel(noted(BackendCode.CONVERTER_SAYS, library="MNN", error=short))
    node = first_match(_NODES, done.text)
    reason = short or noted(BackendCode.SAID_NOTHING)
    if done.signal:
        note = noted(BackendCode.CONVERTER_DIED, library="MNN", signal=done.signal, error=reason)
        return Lowering(note, node=node)
    return Lowering(noted(BackendCode.NOTHING_CONVERTED, library="MNN", error=reason), node=node)


def artifact_failure(error: Exception) -> InvalidModel:
    """An artifact that the runtime does not read."""
    return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="MNN", error=str(error)))


def lost_outputs(names: Sequence[str]) -> Unsupported:
    """Of outputs of the model that the session does not have: the converter of 3.6 fuses a quantization at the end into the layer before
    it, and drops the name."""
    return Unsupported(noted(BackendCode.OUTPUTS_DROPPED, library="MNN", outputs=tuple(names)), node=names[0])


def run_failure(code: int, unsized: str = "", kind: str = "") -> Lowering:
    """Of what `runSession` answers. `unsized` is the tensor at which MNN gave up computing shapes, `kind` the operator that makes it;
    where they are not known, the reason is only in what MNN prints, which the worker keeps. A model and inputs that the reference
    takes are valid: what has no shape in MNN is not supported there."""
    if code != SHAPES:
        return Lowering(noted(BackendCode.RUN_ANSWERED, call="runSession", code=code))
    if not unsized:
        return Unsupported(noted(BackendCode.RUN_ANSWERED, call="runSession", code=code))
    note = noted(
        BackendCode.NO_CONTROL_FLOW if kind in _CONTROL_FLOW else BackendCode.NO_SHAPE,
        operator=kind or "node",
        node=unsized,
    )
    return Unsupported(note, node=unsized, cause=Cause.OPERATOR_UNSUPPORTED.value)


def unsized_tensor(text: str) -> str:
    """The first tensor whose shape MNN says that it could not compute, "" where it says none."""
    match = _UNSIZED.search(text)
    return match.group(1) if match else ""


def _short(text: str, limit: int = 500) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not _NOISE.match(line)]
    joined = " ".join(" ".join(lines).split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
