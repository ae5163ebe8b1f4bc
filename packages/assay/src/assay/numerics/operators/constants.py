"""Operators that make values from nothing or from sizes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, ints, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data
from assay.numerics.tolerance.rules.functions import progression
from assay.numerics.tolerance.rules.rounding_rules import constant


def _constant_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    sizes = ints(inputs[0])
    if sizes is None:
        rank = (inputs[0].shape or (None,))[0]
        return [UNKNOWN] if rank is None else plain((None,) * rank)
    if any(size < 0 for size in sizes):
        raise Conflict(ConstraintCode.NO_SHAPE, *((size, 1) for size in sizes if size < 0), sizes=tuple(sizes))
    filled = node.attributes.get("value")
    data = filled.data if isinstance(filled, Value) and filled.data is not None else np.zeros(1, np.float32)
    small = int(np.prod(sizes, dtype=np.float64)) <= 4096
    return [of_data(np.full(sizes, data.reshape(-1)[0], data.dtype))] if small else plain(tuple(sizes))


def _range_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    if any(value.data is None for value in inputs):
        return plain((None,))
    start, limit, delta = (value.data.reshape(-1)[0] for value in inputs if value.data is not None)
    count = max(0, ceil((float(limit) - float(start)) / float(delta)))
    return [of_data(np.arange(count, dtype=start.dtype) * delta + start)] if count <= 4096 else plain((count,))


def _eye_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(inputs[0].shape)


def _range_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0, 2, COUNT)
    yield 1, Need(4, 16, COUNT)
    yield 2, Need(1, 2, COUNT)


def _sizes_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(1, 4, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Constant", rounding=constant, free=True),
    *alike("ConstantOfShape", rounding=constant, steers=(0,), shape=_constant_shape, ranges=_sizes_ranges, free=True),
    *alike(
        "Range",
        rounding=progression,
        moves=True,
        steers=(0, 1, 2),
        reference="counting",
        shape=_range_shape,
        ranges=_range_ranges,
        free=True,
        mutations={"bf16-lengths"},
    ),
    *alike("EyeLike", moves=True, steers=(0,), reads_sizes=True, shape=_eye_shape),
)
