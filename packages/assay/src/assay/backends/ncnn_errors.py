"""What pnnx and ncnn say: from words to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re

from assay.backends.converter import Converted
from assay.backends.errors import onnxruntime_failure
from assay.core.outcome import Cause
from assay.errors import InvalidModel, Lowering, Unsupported

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
    ended = f"died of {done.signal}" if done.signal else f"ended with {done.code}"
    node = _last(_UNHANDLED, done.text)
    if stage := _last(_PASS, done.text):
        return Lowering(f"pnnx, ncnn's converter, {ended} in its {stage}{f', at {node}' if node else ''}.", node=node)
    return Lowering(f"pnnx, ncnn's converter, {ended}: {_tail(done.text) or 'it said nothing.'}", node=node)


def missing_layers(kinds: dict[str, str]) -> Unsupported:
    """Of layers (kind to name of the first) that pnnx wrote down and that ncnn does not have."""
    names = ", ".join(sorted(kinds))
    return Unsupported(
        f"ncnn has no layer {names}, to which pnnx converted the model.",
        node=next(iter(kinds.values())),
        cause=Cause.OPERATOR_UNSUPPORTED.value,
    )


def artifact_failure(name: str) -> InvalidModel:
    """An artifact that ncnn does not read; why is only on standard error, which the worker keeps."""
    return InvalidModel(
        f"{name} is not a network that this ncnn can load; its reason is in the log. Lower the model again."
    )


def run_failure(output: str, code: int) -> Failure:
    """Of what `Extractor.extract` answers; -100 is its word for memory."""
    if code == -100:
        return MemoryError(f'ncnn had no memory for output "{output}".')
    return Lowering(f'ncnn answered {code} for output "{output}"; its reason is in the log.')


def _tail(text: str, limit: int = 300) -> str:
    lines = [line for line in _COLOURS.sub("", text).splitlines() if line.strip() and " = " not in line]
    return " ".join(" ".join(lines).split())[-limit:]


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.findall(text)
    return str(found[-1]) if found else ""
