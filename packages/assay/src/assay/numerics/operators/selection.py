"""Operators that choose elements by their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, ints, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, index_into, size_of
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Dims, Node, Value, of_data


def _counted_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if node.op == "NonZero":
        dims: Dims = (None if shape is None else max(len(shape), 1), None)
        return [of_data(np.array(np.nonzero(inputs[0].data)))] if inputs[0].data is not None else plain(dims)
    if "axis" not in node.attributes:
        return [Value((None,))] * max(1, len(node.outputs))
    if shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes["axis"], len(shape))
    return [Value((*shape[:axis], None, *shape[axis + 1 :])), *([Value((None,))] * (len(node.outputs) - 1))]


def _one_hot_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, depth = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes.get("axis", -1), len(shape) + 1)
    return plain((*shape[:axis], depth[0] if depth else None, *shape[axis:]))


def _top_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN, UNKNOWN]
    axis = axis_of(node.attributes.get("axis", -1), len(shape))
    count = [node.attributes["k"]] if "k" in node.attributes else ints(at(inputs, 1))
    k, size = count[0] if count else None, shape[axis]
    if k is not None and size is not None and k > size:
        raise Conflict(ConstraintCode.LARGEST, (size, k), wanted=k, axis=axis, size=size)
    return [Value((*shape[:axis], k, *shape[axis + 1 :]))] * 2


def _one_hot_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    depth = inputs[1].data
    yield 0, index_into(None if depth is None else int(depth.reshape(-1)[0]))
    yield 1, Need(2, 16, COUNT)


def _top_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    size = size_of(inputs, 0, node.attributes.get("axis", -1)) or 1
    yield 1, Need(min(2, size), size, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Compress", moves=True, shape=_counted_shape, carries=first_input),
    *alike("Unique", moves=True, jumps=True, decides="set", reference="reducing", shape=_counted_shape),
    *alike("NonZero", moves=True, jumps=True, decides="set", shape=_counted_shape, free=True),
    *alike(
        "TopK",
        moves=True,
        steers=(1,),
        jumps=True,
        decides="rank",
        shape=_top_shape,
        ranges=_top_ranges,
        carries=first_input,
        mutations={"topk-smallest"},
    ),
    *alike(
        "OneHot",
        moves=True,
        steers=(1, 2),
        reference="reducing",
        shape=_one_hot_shape,
        ranges=_one_hot_ranges,
        free=True,
    ),
)
