"""Sums and products of all elements up to each."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import COUNT, MASK, Demands, Need
from assay.numerics.shapes.values import Node, Value
from assay.numerics.tolerance.rules.sums import reduction, relative_reduction


def _axis_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    yield 1, Need(0, max(len(shape or (1,)) - 1, 0), COUNT)


def _running_carry(_: Node, inputs: Sequence[Value], need: Need) -> Demands:
    shape, axis = inputs[0].shape, inputs[1].data
    if shape is None or axis is None or need.high == inf:
        return
    steps = shape[int(axis.reshape(-1)[0])] or 1
    yield 0, Need(0, max(1, floor(need.high / steps)), MASK, operator=need.operator, node=need.node)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "CumSum",
        rounding=reduction,
        steers=(1,),
        reference="reducing",
        shape=same_shape,
        ranges=_axis_ranges,
        carries=_running_carry,
        mutations={"cumsum-axis", "cumsum-exclusive"},
    ),
    *alike("CumProd", rounding=relative_reduction, reference="reducing", ranges=_axis_ranges),
)
