"""From a path to a model, or one sentence why not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.errors import BadModel
from assay.models.examination.text_and_size import MOST_PARTS, parts_of, unreadable_name
from assay.models.examination.wire import wire_problem
from assay.models.files import check_model_file

if TYPE_CHECKING:
    from onnx import ModelProto

_LARGEST_PROTOBUF = 2**31 - 1
_AGAIN = "export or copy the model again"
_WIRE = {
    "no-protobuf": f"is not an ONNX model, or damaged: it is no protobuf at byte {{0}} of {{1}}; {_AGAIN}",
    "truncated": f"is truncated or not ONNX: what begins at byte {{0}} goes on after its end ({{1}} bytes); {_AGAIN}",
    "no-graph": f"has no graph ({{1}} bytes); {_AGAIN}",
    "too-many-fields": (
        "has more than a million parts before byte {0}, more than any model; split it, or export it again with fewer nodes"
    ),
}


def read_model(path: Path) -> ModelProto:
    """The model without its external data. Raises `BadModel`."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    check_model_file(path)
    size = path.stat().st_size
    if size > _LARGEST_PROTOBUF:
        raise BadModel(
            f"{path} has {size} bytes, more than the 2 GiB of an ONNX file; save its weights as external data"
        )
    with path.open("rb") as file:
        if problem := wire_problem(file, size):
            raise BadModel(f"{path} {_WIRE[problem.code].format(problem.byte, size)}")
        file.seek(0)
        data = file.read()
    try:
        model: ModelProto = ModelProto.FromString(data)
    except DecodeError as error:
        raise BadModel(f"{path} {why_unparsed(error)} ({size} bytes); {_AGAIN}") from None
    if parts_of(model) > MOST_PARTS:
        raise BadModel(
            f"{path} has more than {MOST_PARTS} nodes, inputs, attributes and weights, more than any model; split it, or export "
            "it again with fewer nodes"
        )
    if unreadable_name(model):
        raise BadModel(f"{path} holds a name that is not UTF-8; {_AGAIN}")
    return model


def parse(path: Path) -> tuple[ModelProto | None, list[ModelFinding]]:
    """None where there is none to look at, and then the finding that says why, as the predicate of a sentence about the file."""
    try:
        return read_model(path), []
    except BadModel as error:
        words = str(error).removeprefix(str(path)).lstrip()
        return None, [ModelFinding(Area.MODEL, "unreadable", ModelPart(PartKind.FILE, path.name), (words,))]


def why_unparsed(error: Exception) -> str:
    """What is wrong with a file that protobuf does not decode. Raises MemoryError where it had no room to."""
    text = str(error).lower()
    if "alloc" in text or "memory" in text:
        raise MemoryError from None
    return (
        "nests graphs deeper than protobuf reads (100 messages)"
        if "depth" in text
        else "is damaged inside a node or tensor"
    )
