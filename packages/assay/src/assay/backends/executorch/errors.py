"""What ExecuTorch says: from an exception to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re

from assay.backends.errors import first_match
from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unsupported

Failure = Lowering | MemoryError

_MEMORY = re.compile(r"bad_alloc|[Oo]ut of memory|DefaultCPUAllocator|error 0x21\b")
_MISSING_OUT = re.compile(r"Missing out variants?: \{?([^}\n]+)\}?")
_LEFT_WHOLE = re.compile(r"EdgeOpOverload: ([\w.]+)>.* was not decomposed or delegated", re.DOTALL)
_NOT_CORE = re.compile(r"Operator ([\w:.<> ]+?) is not (?:in )?(?:Core|core|an? )")
_UNSUPPORTED = re.compile(
    r"not (?:yet )?(?:be )?(?:supported|implemented)|[Uu]nsupported|[Nn]o (?:kernel|lowering)|SpecViolationError|error 0x1[45]\b"
)
_NODES = (r"operator ([\w:.]+)", r"Missing operator: \[\d+\] ([\w:.]+)", r"node ([\w.]+)")
_LIBRARY = "ExecuTorch"


def lowering_failure(error: BaseException, *, step: str) -> Failure:
    """Of any exception of executorch 1.4 before there is a program. What goes wrong in a pass is wrapped in a list of all passes."""
    if isinstance(error, Lowering):
        return error
    while error.__cause__ is not None and "An error occurred when running the" in str(error):
        error = error.__cause__
    text = short(error)
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        return MemoryError(text)
    if isinstance(error, KeyError) and text.startswith("torch."):
        return Unsupported(noted(BackendCode.DELEGATE_NO_TYPE, type=text), cause=_OPERATOR)
    missing = _MISSING_OUT.search(str(error))
    if missing:
        names = ", ".join(sorted(name.strip(" '\"") for name in missing.group(1).split(",")))
        return Unsupported(noted(BackendCode.NO_OPERATOR, library=_LIBRARY, names=names), node=names, cause=_OPERATOR)
    if whole := _LEFT_WHOLE.search(str(error)):
        name = whole.group(1)
        return Unsupported(noted(BackendCode.KEPT_WHOLE, operator=name), node=name, cause=_OPERATOR)
    odd = _NOT_CORE.search(text)
    if odd or isinstance(error, NotImplementedError) or _UNSUPPORTED.search(text):
        node = odd.group(1) if odd else first_match(_NODES, text)
        note = noted(BackendCode.STEP_REFUSED, library=_LIBRARY, step=step, error=text)
        return Unsupported(note, node=node, cause=_OPERATOR)
    name = type(error).__name__
    note = noted(BackendCode.STEP_FAILED, library=_LIBRARY, step=step, exception=name, error=text)
    return Lowering(note, node=first_match(_NODES, text))


def run_failure(error: Exception) -> Failure:
    """Of an exception of the runtime; why is mostly on standard error, which the worker keeps."""
    text = short(error)
    if _MEMORY.search(text):
        return MemoryError(text)
    if text.endswith(("0x10", "0x12")):
        size = text.endswith("0x10")
        return Lowering(noted(BackendCode.EXECUTORCH_0X10 if size else BackendCode.EXECUTORCH_0X12, error=text))
    return Lowering(noted(BackendCode.RUNTIME_SAYS, library=_LIBRARY, error=text))


def load_failure(name: str, error: Exception) -> Lowering:
    """A program that the runtime does not load: its kernels or its delegate are missing, or the file is damaged."""
    text = short(error)
    if re.search(r"error:? 0x:?(?:14|20)\b", text):  # "Failed to load method forward, error: 0x:14" of 1.4
        return Unsupported(noted(BackendCode.RUNTIME_LACKS_OPERATORS, file=name, error=text))
    return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library=_LIBRARY, error=text))


def short(error: BaseException, limit: int = 400) -> str:
    """The text on one line."""
    joined = " ".join(str(error).split()) or type(error).__name__
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


_OPERATOR = Cause.OPERATOR_UNSUPPORTED.value
