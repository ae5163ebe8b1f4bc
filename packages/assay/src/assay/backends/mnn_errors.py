"""What MNN's converter and runtime say: from words to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.backends.converter import Converted
from assay.backends.errors import first_match
from assay.core.outcome import Cause
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
        return Unsupported(f"MNN's converter has no {names}.", node=names, cause=Cause.OPERATOR_UNSUPPORTED.value)
    short = _short(done.text)
    if _MEMORY.search(done.text):
        return MemoryError(short)
    if _INVALID.search(done.text):
        return InvalidModel(f"MNN's converter: {short}")
    node = first_match(_NODES, done.text)
    if done.signal:
        return Lowering(f"MNN's converter died of {done.signal}: {short or 'it said nothing.'}", node=node)
    return Lowering(f"MNN's converter wrote no model: {short or 'it said nothing.'}", node=node)


def artifact_failure(name: str, error: Exception) -> InvalidModel:
    """An artifact that the runtime does not read."""
    return InvalidModel(f"{name} is not a model that this MNN can load ({error}); lower the model again.")


def lost_outputs(names: Sequence[str]) -> Unsupported:
    """Of outputs of the model that the session does not have: the converter of 3.6 fuses a quantization at the end into the layer before
    it, and drops the name."""
    text = ", ".join(f"'{name}'" for name in names)
    return Unsupported(f"MNN's converter dropped the output {text} of the model.", node=names[0])


def run_failure(code: int, unsized: str = "", kind: str = "") -> Lowering:
    """Of what `runSession` answers. `unsized` is the tensor at which MNN gave up computing shapes, `kind` the operator that makes it;
    where they are not known, the reason is only in what MNN prints, which the worker keeps. A model and inputs that the reference
    takes are valid: what has no shape in MNN is not supported there."""
    if code != SHAPES:
        return Lowering(f"MNN's runSession answered {code}; its reason is in the log.")
    if not unsized:
        return Unsupported("MNN could not compute the shapes for these inputs (error 3); its reason is in the log.")
    where = f"{kind} '{unsized}'" if kind else f"'{unsized}'"
    module = "; MNN's other interface has control flow: --option api=module" if kind in _CONTROL_FLOW else ""
    cause = Cause.OPERATOR_UNSUPPORTED.value
    return Unsupported(f"MNN's session computes no shape for {where}{module}.", node=unsized, cause=cause)


def unsized_tensor(text: str) -> str:
    """The first tensor whose shape MNN says that it could not compute, "" where it says none."""
    found = _UNSIZED.search(text)
    return found.group(1) if found else ""


def _short(text: str, limit: int = 500) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not _NOISE.match(line)]
    joined = " ".join(" ".join(lines).split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
