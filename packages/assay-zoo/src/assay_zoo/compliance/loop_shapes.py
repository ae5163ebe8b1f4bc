"""What a Loop of constant trips makes of the values that it carries: trip after trip, by the shapes of its body."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from assay.models.examination.known_values import Known
from assay.models.examination.types import LARGEST_INDEX, Shape, shape_of
from assay.models.examination.walk import subgraphs
from assay_zoo.compliance.loops import trips_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

_FOLLOWED = 64
"""Trips that are looked at one by one: whatever doubles is past every bound by then. What grows evenly is extrapolated."""
_GIVEN = 2
"""The trip's number and the condition stand before the carried values, in the node and in the body alike."""
Shapes = tuple[Shape | None, ...]


def grown(node: NodeProto, known: Known) -> Shapes:
    """The shapes of the carried outputs after the last trip; None where it is not known, all of them where nothing grows."""
    trips = trips_of(node, known) if node.op_type == "Loop" else None
    body = next((graph for name, graph in subgraphs(node) if name == "body"), None)
    if trips is None or trips < 2 or body is None:
        return ()
    shapes = tuple(known.shape(name) for name in node.input[_GIVEN:])
    seen = [shapes]
    while len(seen) <= min(trips, _FOLLOWED) and _countable(shapes):
        shapes = _after(body, node, shapes, known)
        if shapes == seen[-1]:
            return shapes
        seen.append(shapes)
    left = trips - (len(seen) - 1)
    return _evenly(seen, left) if left > 0 and len(seen) > _GIVEN else shapes


def _countable(shapes: Shapes) -> bool:
    return all(
        prod(size for size in shape if isinstance(size, int)) <= LARGEST_INDEX for shape in shapes if shape is not None
    )


def _evenly(seen: Sequence[Shapes], left: int) -> Shapes:
    """As the last trip added, so do those that are left; None for what did not grow by the same each time."""
    first, second, third = seen[-3:]
    return tuple(_on(*each, left) for each in zip(first, second, third, strict=True))


def _on(first: Shape | None, second: Shape | None, third: Shape | None, left: int) -> Shape | None:
    if first is None or second is None or third is None or not len(first) == len(second) == len(third):
        return None
    sizes: list[int | str] = []
    for first_size, two, three in zip(first, second, third, strict=True):
        if isinstance(first_size, int) and isinstance(two, int) and isinstance(three, int):
            if three - two != two - first_size:
                return None
            sizes.append(three + (three - two) * left)
        else:
            sizes.append(three)
    return tuple(sizes)


def _after(body: GraphProto, node: NodeProto, shapes: Shapes, known: Known) -> Shapes:
    """One trip more."""
    from onnx import shape_inference

    try:
        inferred = shape_inference.infer_shapes(_one_trip(body, node, shapes, known)).graph
    except (shape_inference.InferenceError, ValueError, RuntimeError):
        return (None,) * len(shapes)
    made = {value.name: shape_of(value.type) for value in (*inferred.input, *inferred.value_info, *inferred.output)}
    wanted = [value.name for value in body.output[1 : 1 + len(shapes)]]
    return tuple(made.get(name) for name in wanted)


def _one_trip(body: GraphProto, node: NodeProto, shapes: Shapes, known: Known) -> ModelProto:
    """The body as a model: what it carries has these shapes, what it sees of the graph around it has those known."""
    from onnx import TensorProto, helper, numpy_helper

    elements = [known.types[name][0] if name in known.types else 0 for name in node.input[_GIVEN:]]
    names = [value.name for value in body.input]
    kinds: list[tuple[int, Shape | None]] = [(TensorProto.INT64, ()), (TensorProto.BOOL, ())]
    kinds += list(zip(elements, shapes, strict=True))
    inputs = [helper.make_tensor_value_info(name, *kind) for name, kind in zip(names, kinds, strict=False)]
    own = {*names, *(tensor.name for tensor in body.initializer), *(name for each in body.node for name in each.output)}
    seen = {name for each in body.node for name in each.input if name} - own
    constants = [numpy_helper.from_array(known.constants[name], name) for name in sorted(seen & known.constants.keys())]
    around = sorted(seen & known.types.keys() - known.constants.keys())
    inputs += [helper.make_tensor_value_info(name, *known.types[name]) for name in around]
    outputs = [helper.make_empty_tensor_value_info(value.name) for value in body.output[1 : 1 + len(shapes)]]
    graph = helper.make_graph(body.node, "trip", inputs, outputs, [*body.initializer, *constants])
    imports = [helper.make_opsetid(domain, version) for domain, version in known.scope.opsets.items()]
    return helper.make_model(graph, opset_imports=imports)
