"""Which outputs of a model are drawn at random, by its graph and by what is fed, and which are decided by nothing that is fed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.finding import FindingCode
from assay.core.model import Model
from assay.numerics.draw import Draw
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto

_CONSTANT = (FindingCode.REFERENCE_CONSTANT, FindingCode.REFERENCE_REPEATED, FindingCode.REFERENCE_SATURATED)


def random_outputs(source: Model, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, Draw]:
    """By name; none where the model is no ONNX file, or only answers of it are there: what its graph draws is not known."""
    from assay.numerics.drawn_outputs import drawn_outputs

    model = _graph_of(source)
    return drawn_outputs(model, inputs) if model is not None else {}


def with_constants(source: Model, comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Those marked whose reference is constant because the graph gives no other."""
    doubtful = [comparison for comparison in comparisons if _is_constant(comparison)]
    model = _graph_of(source) if doubtful else None
    if model is None:
        return tuple(comparisons)
    from assay.numerics.drawn_outputs import fixed_outputs

    fixed = fixed_outputs(model)
    return tuple(
        replace(comparison, constant_by_graph=True)
        if _is_constant(comparison) and comparison.output in fixed
        else comparison
        for comparison in comparisons
    )


def _is_constant(comparison: Comparison) -> bool:
    return comparison.degenerate is not None and comparison.uninformative and comparison.degenerate.code in _CONSTANT


def _graph_of(source: Model) -> ModelProto | None:
    """Without its weights."""
    if source.format != "onnx" or not source.source:
        return None
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    from assay.models.examination.outer_structure import without_weights

    path = Path(source.source)
    try:
        with path.open("rb") as file:
            model: ModelProto = ModelProto.FromString(without_weights(file, path.stat().st_size) or b"")
    except (DecodeError, OSError):
        return None  # what needs no file has answered
    return model
