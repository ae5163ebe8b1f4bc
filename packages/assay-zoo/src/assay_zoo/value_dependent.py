"""Whether the work of a model depends on the values of its inputs, and not only on their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.models.examination.walk import subgraphs

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

_FRACTIONS = (1, 10, 11, 16)
"""TensorProto.FLOAT, FLOAT16, DOUBLE, BFLOAT16."""

_OF_SHAPES = ("Shape", "Size", "SequenceLength")
"""Operators whose result does not follow from values."""
_DECIDING: dict[str, tuple[int, ...]] = {
    "If": (0,), "Loop": (0, 1), "NonZero": (0,), "Compress": (1,), "Unique": (0,), "NonMaxSuppression": (0, 1, 2, 3, 4),
    "Reshape": (1,), "Expand": (1,), "Tile": (1,), "ConstantOfShape": (0,), "Range": (0, 1, 2), "Slice": (1, 2, 3, 4),
    "Pad": (1,), "Resize": (1, 2, 3), "Upsample": (1,), "TopK": (1,), "OneHot": (1,), "Split": (1,), "SplitToSequence": (1,),
    "CenterCropPad": (1,), "SequenceAt": (1,), "SequenceErase": (1,), "StringSplit": (0,),
}  # fmt: skip
"""Inputs of an operator that decide how much it does, or how large its result is."""


def depends_on_values(model: ModelProto) -> bool:
    """Conservative: a function of the model's own is taken to be given values in every input."""
    own = [_walk(function, set(function.input), _DECIDING) for function in model.functions]
    return any(own) or _walk(model.graph, {value.name for value in _given(model)}, _DECIDING)


def branches_by_values(model: ModelProto) -> bool:
    """Whether one of two ways is taken because of a value in the data. What a caller sets says so itself: a yes or no, a size, an input
    that may be left out."""
    data = {value.name for value in _given(model) if not _is_setting(value)}
    return _walk(model.graph, data, {"If": (0,)})


def _is_setting(value: ValueInfoProto) -> bool:
    kind = value.type.tensor_type
    is_single = kind.HasField("shape") and len(kind.shape.dim) < 2
    return not value.type.HasField("tensor_type") or (kind.elem_type not in _FRACTIONS and is_single)


def _given(model: ModelProto) -> list[ValueInfoProto]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def _walk(place: GraphProto | FunctionProto, values: set[str], deciding: Mapping[str, Sequence[int]]) -> bool:
    """`values` are the tensors that follow from values; those of `place` are added to it."""
    return bool(sum(_node(node, values, deciding) for node in place.node))  # each is looked at, for it adds to `values`


def _node(node: NodeProto, values: set[str], deciding: Mapping[str, Sequence[int]]) -> bool:
    dependent = any(at < len(node.input) and node.input[at] in values for at in deciding.get(node.op_type, ()))
    fed = any(name in values for name in node.input)
    for _, graph in subgraphs(node):
        settings = 2 if node.op_type == "Loop" else 0  # the number of the turn, and that there is one
        inside = values | {value.name for value in graph.input[settings:] if fed}
        dependent |= _walk(graph, inside, deciding)
        ends = [value.name in inside for value in graph.output]
        fed |= any(ends)
        dependent |= node.op_type == "Loop" in deciding and ends[:1] == [True]  # whether there is another turn
    if fed and node.op_type not in _OF_SHAPES:
        values.update(node.output)
    return dependent
