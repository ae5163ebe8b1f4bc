"""What TVM's words say: from an exception to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re
from types import TracebackType

from assay.core.note import noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unsupported

Failure = Lowering | MemoryError

_MEMORY = re.compile(r"bad_alloc|out of memory|[Cc]annot allocate memory|InternalError: Allocat|Unable to allocate")
_UNSUPPORTED = re.compile(
    r"not (?:yet )?(?:be )?(?:support|implement|handl|legaliz)|unsupported|unimplemented|cannot handle|only [^.]{1,40} support"
    r"|not? legaliz|no (?:implementation|legalization)|can ?not (?:be )?(?:convert|infer|lower)|only supports?"
    r"|unknown d?type|requires? .*(?:static|constant|known)|must be (?:a )?(?:static|constant|known)",
    re.IGNORECASE,
)
_MISSING = re.compile(r"operators are not supported for frontend ONNX: ([^\n]+)")
_SPAN = re.compile(r"^\[\d\d:\d\d:\d\d\] \S+: ?|^(?:error: )", re.MULTILINE)


def tvm_failure(error: BaseException, *, step: str) -> Failure:
    """Of any exception of tvm 0.27: its importer raises bare Python errors for what it does not have.

    `step` says what was being done. A front end that refuses in words is Unsupported; one that trips over itself
    (KeyError, AttributeError) is an error of TVM, with the node it was at.
    """
    node, operator = importing(error.__traceback__)
    text = _short(error)
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        return MemoryError(text)
    missing = _MISSING.search(text)
    if missing:
        names = ", ".join(sorted(name.strip() for name in missing.group(1).split(",")))
        return Unsupported(noted(BackendCode.NO_OPERATOR, library="TVM", names=names), node=names, cause=_OPERATOR)
    reason = noted(BackendCode.AT_NODE, operator=operator, node=node, error=text) if operator else text
    refused = isinstance(error, NotImplementedError) or _UNSUPPORTED.search(text)
    if refused or type(error).__name__.startswith("Op"):
        note = noted(BackendCode.STEP_REFUSED, library="TVM", step=step, error=reason)
        return Unsupported(note, node=node or operator, cause=_OPERATOR)
    name = type(error).__name__
    note = noted(BackendCode.STEP_FAILED, library="TVM", step=step, exception=name, error=reason)
    return Lowering(note, node=node or operator)


def broken(error: Exception) -> InvalidModel:
    """An artifact that tvm cannot load."""
    return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="tvm", error=_short(error)))


def importing(trace: TracebackType | None) -> tuple[str, str]:
    """The name and operator of the ONNX node that the importer was at: it keeps them in a local variable only."""
    node_names = ("", "")
    while trace is not None:
        node = trace.tb_frame.f_locals.get("node")
        if trace.tb_frame.f_code.co_name in ("_construct_nodes", "_convert_subgraph") and node is not None:
            node_names = (node.name or next(iter(node.output), ""), node.op_type)
        trace = trace.tb_next
    return node_names


_OPERATOR = Cause.OPERATOR_UNSUPPORTED.value


def _short(error: BaseException, limit: int = 500) -> str:
    joined = " ".join(_SPAN.sub("", str(error)).split()) or type(error).__name__
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
