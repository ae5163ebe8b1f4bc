"""Which outputs of a model are drawn at random, by its graph and by what is fed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.model import Model
from assay.numerics.draw import Draw
from assay.ports import Tensor


def random_outputs(given: Model, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, Draw]:
    """None where the model is no ONNX file, or only answers of it are there: what its graph draws is not known."""
    if given.format != "onnx" or not given.source:
        return {}
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    from assay.models.examination.outer_structure import without_weights
    from assay.numerics.drawn_outputs import drawn_outputs

    path = Path(given.source)
    try:
        with path.open("rb") as file:
            model = ModelProto.FromString(without_weights(file, path.stat().st_size) or b"")
    except (DecodeError, OSError):
        return {}  # what needs no file has answered
    return drawn_outputs(model, inputs)
