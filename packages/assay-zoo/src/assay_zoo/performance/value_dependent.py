"""Whether the work of a model depends on the values of its inputs, and not only on their shapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.models.examination.functions import Functions, functions_of
from assay.models.examination.walk import Signature, signature_of, subgraphs

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

_FRACTIONS = (1, 10, 11, 16)
"""TensorProto.FLOAT, FLOAT16, DOUBLE, BFLOAT16."""

_OF_SHAPES = ("Shape", "Size", "SequenceLength", "OptionalHasElement")
"""Operators whose result does not follow from values."""
_DECIDING: dict[str, tuple[int, ...]] = {
    "If": (0,), "Loop": (0, 1), "NonZero": (0,), "Compress": (1,), "Unique": (0,), "NonMaxSuppression": (0, 1, 2, 3, 4),
    "Reshape": (1,), "Expand": (1,), "Tile": (1,), "ConstantOfShape": (0,), "Range": (0, 1, 2), "Slice": (1, 2, 3, 4),
    "Pad": (1,), "Resize": (1, 2, 3), "Upsample": (1,), "TopK": (1,), "OneHot": (1,), "Split": (1,), "SplitToSequence": (1,),
    "CenterCropPad": (1,), "SequenceAt": (1,), "SequenceErase": (1,), "StringSplit": (0,),
}  # fmt: skip
"""Inputs of an operator that decide how much it does, or how large its result is."""


_WAYS = {"If": (0,), "Loop": (0, 1)}
"""Inputs of an operator that decide which way is taken, or how often."""


@dataclass
class _Walk:
    """What is known so far of tensors that follow from values, over all calls of the model's functions."""

    deciding: Mapping[str, Sequence[int]]
    functions: Functions
    given: dict[Signature, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Inputs of a function that follow from values in one of its calls."""
    returned: dict[Signature, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Outputs of a function that follow from those."""

    def size(self) -> int:
        return sum(map(len, self.given.values())) + sum(map(len, self.returned.values()))


def depends_on_values(model: ModelProto) -> bool:
    return _decides(model, _given(model), _DECIDING)


def branches_by_values(model: ModelProto) -> bool:
    """Whether a way is taken, or a loop ends, because of a value in the data. What a caller sets says so itself: a yes or no, a size,
    whether an input is left out."""
    return _decides(model, [value for value in _given(model) if not _is_setting(value)], _WAYS)


def _is_setting(value: ValueInfoProto) -> bool:
    kind = value.type.tensor_type
    sizes = [dim.dim_value for dim in kind.shape.dim]  # 0 where it is not known
    return kind.elem_type not in _FRACTIONS and kind.HasField("shape") and sizes in ([], [1])


def _given(model: ModelProto) -> list[ValueInfoProto]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def _decides(model: ModelProto, data: Sequence[ValueInfoProto], deciding: Mapping[str, Sequence[int]]) -> bool:
    """Whether one of the `deciding` inputs follows from the values of `data`, in the graph or in a function that it calls."""
    walk, known = _Walk(deciding, functions_of(model)), -1
    while known < walk.size():
        known = walk.size()
        dependent = _walk(model.graph, {value.name for value in data}, walk)
        for signature, function in walk.functions.items():
            inside = set(walk.given[signature])
            dependent |= _walk(function, inside, walk)
            walk.returned[signature] |= {at for at, name in enumerate(function.output) if name in inside}
    return dependent


def _walk(place: GraphProto | FunctionProto, values: set[str], walk: _Walk) -> bool:
    """`values` are the tensors that follow from values; those of `place` are added to it."""
    return bool(sum(_node(node, values, walk) for node in place.node))  # each is looked at, for it adds to `values`


def _node(node: NodeProto, values: set[str], walk: _Walk) -> bool:
    if function := walk.functions.get(signature_of(node)):
        _call(node, function, values, walk)
        return False
    bodies = [graph for _, graph in subgraphs(node)]
    if node.op_type == "Loop" and len(bodies) == 1 and bodies[0].output:
        return _loop(node, bodies[0], values, walk)
    dependent = any(at < len(node.input) and node.input[at] in values for at in walk.deciding.get(node.op_type, ()))
    fed = any(name in values for name in node.input)
    for graph in bodies:
        inside = values | {value.name for value in graph.input if fed}
        dependent |= _walk(graph, inside, walk)
        fed |= any(value.name in inside for value in graph.output)
    if fed and node.op_type not in _OF_SHAPES:
        values.update(node.output)
    return dependent


def _call(node: NodeProto, function: FunctionProto, values: set[str], walk: _Walk) -> None:
    signature = signature_of(node)
    walk.given[signature] |= {
        inner for inner, outer in zip(function.input, node.input, strict=False) if outer in values
    }
    values.update(name for at, name in enumerate(node.output) if at in walk.returned[signature])


def _loop(node: NodeProto, body: GraphProto, values: set[str], walk: _Walk) -> bool:
    """What a turn hands to the next is looked at again, until nothing is new."""
    carried = [value.name for value in body.input[2:]]  # before them: the number of the turn, and that there is one
    ends = [value.name for value in body.output]
    fed = {inner for inner, outer in zip(carried, node.input[2:], strict=False) if outer in values}
    known = -1
    while known < len(fed):
        known = len(fed)
        inside = values | fed
        dependent = _walk(body, inside, walk)
        fed |= {inner for inner, end in zip(carried, ends[1:], strict=False) if end in inside}
    limits = any(name in values for name in node.input[:2]) or ends[0] in inside
    values.update(
        node.output if limits else (name for name, end in zip(node.output, ends[1:], strict=False) if end in inside)
    )
    return dependent or (limits and "Loop" in walk.deciding)
