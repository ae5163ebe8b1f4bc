"""From a path to a model, or one sentence why not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import ModelFinding
from assay.models.examination.outer_structure import wire_problem
from assay.models.examination.text_and_size import MOST_PARTS, parts_of, unreadable_name
from assay.models.files import UnreadableFile, check_model_file, unreadable

if TYPE_CHECKING:
    from onnx import ModelProto

_LARGEST_PROTOBUF = 2**31 - 1


def read_model(path: Path) -> ModelProto:
    """The model without its external data. Raises `BadModel`."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    check_model_file(path)
    size = path.stat().st_size
    if size > _LARGEST_PROTOBUF:
        raise unreadable(path, "too-large", size)
    with path.open("rb") as file:
        if problem := wire_problem(file, size):
            raise unreadable(path, problem.code, problem.byte, size)
        file.seek(0)
        data = file.read()
    try:
        model: ModelProto = ModelProto.FromString(data)
    except DecodeError as error:
        raise unreadable(path, why_unparsed(error), size) from None
    if parts_of(model) > MOST_PARTS:
        raise unreadable(path, "too-many-parts", MOST_PARTS)
    if unreadable_name(model):
        raise unreadable(path, "not-utf8")
    return model


def parse(path: Path) -> tuple[ModelProto | None, list[ModelFinding]]:
    """None where there is none to look at, and then the finding that says why, in the rows of a file that is unreadable."""
    try:
        return read_model(path), []
    except UnreadableFile as error:
        return None, [*error.findings]


def why_unparsed(error: Exception) -> str:
    """The row of what is wrong with a file that protobuf does not decode. Raises MemoryError where it had no room to."""
    text = str(error).lower()
    if "alloc" in text or "memory" in text:
        raise MemoryError from None
    return "nested" if "depth" in text else "damaged"
