"""ONNX files read and written by transforms, and what a library's refusal is worth."""

from __future__ import annotations

import re
import traceback
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.note import noted
from assay.core.refusals.transform_codes import TransformCode
from assay.errors import InvalidModel, Lowering, Unsupported
from assay.models.out_of_memory import out_of_memory
from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from onnx import ModelProto

SINGLE_FILE_BYTES = 1_500_000_000
"""A larger model keeps its weights beside it: a protobuf ends at 2 GiB."""

WRITTEN = "model.onnx"
"""What every transform calls the file it writes."""

STANDARD = ("", "ai.onnx")
_WEIGHTS = "weights.bin"
_NEWEST = re.compile(
    r"supports? (?:for domain \S+ is )?till opset \d+|Unsupported model IR version: \d+, max \S+ IR version: \d+"
)
_MISTAKES = (AssertionError, AttributeError, LookupError, TypeError, ValueError)
# Where in the library's sources it was raised, and the name of a scratch file.
_PLACES = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from \S+ failed: ?|/\S+\.(?:cc|h):\d+:? ")


def read(model: Path) -> ModelProto:
    """With its external data. Raises InvalidModel for a file that is no ONNX model."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return load_onnx(model)
    except (DecodeError, OSError, ValueError) as error:
        raise InvalidModel(noted(TransformCode.NOT_READ_AS_ONNX, model=model.name, error=str(error))) from error


def write(proto: ModelProto, path: Path) -> Path:
    """The file, checked: a transform that breaks a model must not pass it on. Raises Lowering."""
    import onnx

    large = proto.ByteSize() > SINGLE_FILE_BYTES
    onnx.save(proto, path, save_as_external_data=large, location=_WEIGHTS if large else None)
    try:
        onnx.checker.check_model(str(path))
    except onnx.checker.ValidationError as error:
        raise Lowering(noted(TransformCode.REWRITTEN_INVALID, error=one_line(str(error)))) from error
    return path


def opset_of(proto: ModelProto) -> int:
    """Of the standard's own operators; 1 where the file does not say."""
    return next((entry.version for entry in proto.opset_import if entry.domain in STANDARD), 1)


def require_opset(proto: ModelProto, least: int, transform: str) -> None:
    """Raises Unsupported for a model of an older opset: libraries would lift it without a word."""
    if opset_of(proto) < least:
        raise Unsupported(
            noted(TransformCode.NEEDS_OPSET, transform=transform, least=least, opset=opset_of(proto)),
            cause="needs_opset",
        )


def refused(transform: str, error: Exception) -> Lowering | MemoryError:
    """A library's exception over a model, as what it means."""
    text = " ".join(str(error).split()) or type(error).__name__
    if out_of_memory(error):
        return MemoryError(one_line(text))
    newest = _NEWEST.search(text)
    if newest:
        return Unsupported(
            noted(TransformCode.OPSET_TOO_NEW, transform=transform, known=newest[0]), cause="needs_opset"
        )
    reason = one_line(_PLACES.sub("", text))
    if not (place := _place(error)):
        return Unsupported(noted(TransformCode.CANNOT_SERVE, transform=transform, error=reason))
    library, function = place
    return Unsupported(
        noted(
            TransformCode.LIBRARY_STUMBLES,
            transform=transform,
            exception=type(error).__name__,
            library=library,
            function=function,
            error=reason,
        )
    )


def _place(error: Exception) -> tuple[str, str] | None:
    """Library and function, of a mistake in the library's own Python code, whose words name no model."""
    if not isinstance(error, _MISTAKES) or error.__traceback__ is None:
        return None
    frame = traceback.extract_tb(error.__traceback__)[-1]
    folders = Path(frame.filename).parts
    library = next((after for folder, after in pairwise(folders) if folder in ("site-packages", "dist-packages")), "")
    return (Path(library).stem, frame.name) if library else None


def one_line(text: str, limit: int = 400) -> str:
    """Without line breaks, and cut."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
