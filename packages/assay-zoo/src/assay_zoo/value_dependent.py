"""Whether the work of a model depends on the values of its inputs, and not only on their shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.models.examination.walk import subgraphs

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

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
    own = [_walk(function, set(function.input)) for function in model.functions]
    constants = {tensor.name for tensor in model.graph.initializer}
    given = {value.name for value in model.graph.input} - constants
    return any(own) or _walk(model.graph, given)


def _walk(place: GraphProto | FunctionProto, values: set[str]) -> bool:
    """`values` are the tensors that follow from values; those of `place` are added to it."""
    return bool(sum(_node(node, values) for node in place.node))  # each is looked at, for it adds to `values`


def _node(node: NodeProto, values: set[str]) -> bool:
    dependent = any(at < len(node.input) and node.input[at] in values for at in _DECIDING.get(node.op_type, ()))
    fed = any(name in values for name in node.input)
    for _, graph in subgraphs(node):
        settings = 2 if node.op_type == "Loop" else 0  # the number of the turn, and that there is one
        inside = values | {value.name for value in graph.input[settings:] if fed}
        dependent |= _walk(graph, inside)
        ends = [value.name in inside for value in graph.output]
        fed |= any(ends)
        dependent |= node.op_type == "Loop" and ends[:1] == [True]  # whether there is another turn
    if fed and node.op_type not in _OF_SHAPES:
        values.update(node.output)
    return dependent
