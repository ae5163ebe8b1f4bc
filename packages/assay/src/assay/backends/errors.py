"""What a backend's error text says: from words to Unsupported, InvalidModel, MemoryError or plain Lowering."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from assay.core.note import Note, noted
from assay.core.outcome import Cause
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering, Unavailable, Unsupported
from assay.numerics.dense_weights import all_sparse

Failure = Lowering | MemoryError

_MEMORY = re.compile(
    r"bad_alloc|Failed to allocate memory|not enough memory|Unable to allocate|std::length_error", re.IGNORECASE
)

_ORT_OPSET = re.compile(r"Unsupported model IR version|till opset|is under development and support for this is limited")
_ORT_OPERATOR = re.compile(
    r"No Op registered for|is not a registered function/op|Could not find an implementation for"
    r"|NOT_IMPLEMENTED|NotImplemented|is not currently registered or supported|of operator \(\w+\) in node \(.*\) is invalid"
)
_ORT_LACKING = re.compile(r"is not (?:currently |yet )?supported")
"""Of a file that nothing else is said against."""
_ORT_INVALID = re.compile(
    r"INVALID_GRAPH|INVALID_PROTOBUF|No graph was found|Invalid model|invalid model|not acyclic"
    r"|ShapeInferenceError|TypeInferenceError|Type Error|External data path|GetExtDataFromTensorProto"
    r"|external data|External initializer|Missing Input|Protobuf parsing failed"
)
_ORT_NODES = (
    r'In Node, \("([^"]*)"',
    r"(?:in|of) node \(([^)]*)\)",
    r"node with name '([^']*)'",
    r"Name:'([^']*)'",
    r"Node ?\(([^)]+)\) Op",
    r"Fatal error: (\S+)\(-?\d+\) is not a registered",
)

_ORT_LOCALE = re.compile(r"Failed to construct locale with name:([A-Za-z_]+)((?:\.[\w-]+)?(?:@\w+)?)")

# The error code, the path (which the result knows), and the C++ function that raised.
_ORT_NOISE = re.compile(
    r"^\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from .*? failed: ?|/\S+\.(?:cc|h):\d+ .*?\) (?=[A-Z])"
)

_OV_OPERATOR = re.compile(
    r"No conversion rule found|[Nn]ot supported|[Uu]nsupported|not implemented|only supported", re.IGNORECASE
)
_OV_OPSET = re.compile(r"[Uu]nsupported (model )?(IR|opset) version|opset version .* (is )?not supported")
_OV_INVALID = re.compile(
    r"isn't found for node|Unable to read the model|Could not open the file|OpConversionFailure|OpValidationFailure"
    r"|While validating|Invalid external data|InitializationFailure|Cyclic|external data"
)
_OV_PLACES = re.compile(r"Exception from \S+:\d+:\s*|Check '[^']*' failed at \S+:\d+:\s*")
"""Of its source: where in C++ it gave up."""
_OV_NODES = (
    r"No conversion rule found for operations: ([^\n]+)",
    r"ONNX node '<Node\(\w+\): ([^>']*)>'",
    r"ONNX node '([^']*)'",
    r'for node "([^"]*)"',
)
_OV_LACKS_VALUE = re.compile(r"([^\n:]*isn't found for node \"([^\"]*)\")")
_OV_REFUSED = re.compile(r"ONNX node '<Node\((\w+)\): [^>']*>':[^\n]*\n(?:FrontEnd API failed[^\n]*\n)?([A-Z][^\n]+)")
"""The operator, and why its importer does not take it here."""


def onnxruntime_failure(text: str) -> Failure:
    """Of the text of any exception of onnxruntime 1.31, from creating a session or from running it.

    The order matters: a missing operator is also announced as an invalid graph, and a type that an operator does not
    take (`Conv` on int32) is ONNX's rule as much as a missing kernel; it counts as unsupported.
    """
    node = first_match(_ORT_NODES, text)
    short = _one_line(_ORT_NOISE.sub("", text))
    if _MEMORY.search(text):
        return MemoryError(short)
    if lacking := _ORT_LOCALE.search(text):
        return _no_locale(lacking[1], lacking[1] + lacking[2])
    if _ORT_OPSET.search(text):
        return Unsupported(short, node=node, cause=Cause.OPSET_TOO_NEW.value)
    if _ORT_OPERATOR.search(text):
        return Unsupported(short, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
    if _ORT_INVALID.search(text):
        return InvalidModel(short, node=node)
    if _ORT_LACKING.search(text):
        return Unsupported(short, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
    return Lowering(short, node=node)


def _no_locale(language: str, name: str) -> Unavailable:
    """What a StringNormalizer lowers letters by; not every machine, and hardly a container, has it."""
    return Unavailable(noted(BackendCode.NO_LOCALE, locale=name, language=language))


def openvino_failure(text: str) -> Failure:
    """Of the text of a RuntimeError of openvino 2026.4, from reading, compiling or running a model."""
    node = first_match(_OV_NODES, text)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("Exception from", "Check '"))]
    short: str | Note = _one_line(" ".join(lines) or text)
    if _MEMORY.search(text):
        return MemoryError(short)
    if refused := _OV_REFUSED.search(text):
        error = refused[2].rstrip(":")
        short = noted(BackendCode.IMPORTER_REFUSES, library="OpenVINO", operator=refused[1], node=node, error=error)
    if _OV_OPSET.search(text):
        return Unsupported(short, node=node, cause=Cause.OPSET_TOO_NEW.value)
    if "No conversion rule found" in text:
        return Unsupported(short, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
    # A conversion that fails may say of a valid model that this form of an operator "is only supported for 4D".
    if _OV_OPERATOR.search(text):
        return Unsupported(short, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
    if _OV_INVALID.search(text):
        return InvalidModel(short, node=node)
    return Lowering(short, node=node)


def unusable_artifact(backend: str, error: Exception) -> InvalidModel:
    """A saved engine that was cut, changed, or built by another version or for another kind of processor."""
    short_text = _one_line(_OV_PLACES.sub("", str(error)), 300).rstrip(".")
    return InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library=backend, error=short_text))


def checker_failure(text: str) -> Failure:
    """Of the text of onnx.checker.ValidationError (onnx 1.23)."""
    short = _one_line(text.partition("\n\n")[0])
    node = first_match(
        (r"OpType: (\S+), Name: [^ ]+", r"name: (\S+) OpType", r"Bad node spec for node. Name: (\S*)"), text
    )
    if re.search(r"No Op registered for", text):
        return Unsupported(short, node=node, cause=Cause.OPERATOR_UNSUPPORTED.value)
    if re.search(r"ir_version \d+ is higher|IR version", text):
        return Unsupported(short, node=node, cause=Cause.OPSET_TOO_NEW.value)
    return InvalidModel(short, node=node)


def first_match(patterns: Iterable[str], text: str) -> str:
    """The first group of the first pattern that occurs; "" where none does."""
    matches = (re.search(pattern, text) for pattern in patterns)
    return next((match.group(1).strip() for match in matches if match), "")


def _one_line(text: str, limit: int = 600) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def without_sparse(model: Path, failure: Failure, text: str, library: str) -> Failure:
    """Of a library that has no sparse initializers (OpenVINO 2026.4), and calls a model that has some broken. `text` is all it said."""
    if not isinstance(failure, InvalidModel):
        return failure
    stored = _sparse_names(model)
    for error, node in _OV_LACKS_VALUE.findall(text):
        if node in stored:
            kind, reason = "sparse_initializer", error.strip()
            why = noted(BackendCode.IMPORTER_REFUSES, library=library, operator=kind, node=node, error=reason)
            return Unsupported(why, node=node)
    return failure


def _sparse_names(model: Path) -> set[str]:
    """None of a file that onnx does not read: what the library said of it stands."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        proto = onnx.load(str(model), load_external_data=False)
    except (DecodeError, OSError):
        return set()
    return {sparse.values.name for sparse in all_sparse(proto) if sparse.values.name}
