"""What IREE's words say: from an exception to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re

from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, NotRunnable, Unsupported

Failure = Lowering | MemoryError

OLDEST_OPSET = 17
"""The importer is written for this opset and later; older models lower where their operators did not change since."""

_COMPILER = "iree-compile"
_ERROR = re.compile(r'error: (?:loc\((?:callsite\()?"(?P<node>[^"]*)"[^:]*\): )?(?P<said>[^\n]+)')
_PREFIX = re.compile(r'^loc\("(?P<node>[^"]*)"\): error: (?P<said>[^\n]+)', re.MULTILINE)
_OPERATOR = re.compile(r'name = "onnx\.([^"]+)"')
_ILLEGAL = re.compile(r"failed to legalize operation '([^']+)'")
_TARGET = re.compile(
    r"missing GPU target|[Uu]nknown (?:\w+ )?target|unsupported .*target|invalid CPU|Unknown CUDA target"
)
_MEMORY = re.compile(r"bad_alloc|out of memory|OUT_OF_(?:DEVICE|HOST)_MEMORY|RESOURCE_EXHAUSTED")
_IN_A_DISPATCH = re.compile(
    r"allocator_libc\.c:\d+: RESOURCE_EXHAUSTED.*hal\.(?:device\.queue\.execute|fence\.await)", re.DOTALL
)
_STATUS = re.compile(r"^(?:Error \w+ \w+: )?(?:\S+?\.(?:c|cc|h):\d+: )?", re.MULTILINE)


def import_failure(error: Exception) -> Failure:
    """Of OnnxImportError, or of the verifier of what was imported."""
    text = _short(str(error))
    if "Non topologically" in text:
        return InvalidModel(text)
    return Unsupported(
        noted(BackendCode.IMPORTER_SAYS, library="IREE", error=text), cause=Cause.OPERATOR_UNSUPPORTED.value
    )


def compiler_failure(text: str, opset: int) -> Failure:
    """Of what iree-compile 3.13 wrote on standard error. Each error carries the name of the node it is about."""
    match = _PREFIX.search(text) or _ERROR.search(text)
    if match is None:
        signal = re.search(r"Error code: (-\d+)", text)
        short = _short(text.partition("Invoked with")[0])
        if signal is None:
            return Lowering(noted(BackendCode.TOOL_SAYS, tool=_COMPILER, error=short))
        return Lowering(noted(BackendCode.TOOL_KILLED, tool=_COMPILER, signal=signal.group(1)[1:], error=short))
    node, reason = match.group("node") or "", _short(match.group("said"), 300)
    if _MEMORY.search(text):
        return MemoryError(reason)
    operator = _OPERATOR.search(text)
    illegal = _ILLEGAL.search(text)
    if operator or illegal:
        what = operator.group(1) if operator else str(illegal and illegal.group(1))
        # Unsupported and not an error: iree-compile legalizes what it has a lowering for, in this form and these types.
        note = noted(BackendCode.NO_LOWERING, operator=what, node=node or what)
        if opset < OLDEST_OPSET:
            note = noted(BackendCode.OLD_OPSET, error=note, opset=opset, oldest=OLDEST_OPSET)
        return Unsupported(note, node=node or what, cause=Cause.OPERATOR_UNSUPPORTED.value)
    if _TARGET.search(text):
        return Unsupported(noted(BackendCode.TARGET_REFUSED, library="IREE", error=reason))
    return Lowering(noted(BackendCode.TOOL_SAYS, tool=_COMPILER, error=reason), node=node)


def runtime_failure(text: str) -> Failure:
    """Of what invoking a function raised."""
    short = _short(_STATUS.sub("", text))
    if _IN_A_DISPATCH.search(text):
        return Lowering(noted(BackendCode.DISPATCH_MEMORY, error=short))
    if _MEMORY.search(text):
        return MemoryError(short)
    return Lowering(noted(BackendCode.RUNTIME_SAYS, library="IREE", error=short))


def no_device(driver: str, text: str) -> NotRunnable:
    """Of what creating a device raised: the driver's own words, without every place where its library was looked for."""
    reason = _STATUS.sub("", " ".join(text.split())).partition("Tried:")[0].rstrip(" :;")
    return NotRunnable(noted(BackendCode.NO_DEVICE, device=driver, error=_short(reason, 300)))


def _short(text: str, limit: int = 500) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
