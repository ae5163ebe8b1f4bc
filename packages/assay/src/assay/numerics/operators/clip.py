"""Clip."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import elementwise
from assay.numerics.shapes.constraints import Inputs, Walk, at, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.propagation import ends_of, is_met
from assay.numerics.shapes.values import Node, Value, of_data


def _clip_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    data = inputs[0].data
    low, high = at(inputs, 1).data, at(inputs, 2).data
    if data is None or (len(inputs) > 1 and low is None) or (len(inputs) > 2 and high is None):
        return plain(inputs[0].shape)
    low = node.attributes.get("min", low)
    high = node.attributes.get("max", high)
    return plain(inputs[0].shape) if low is None and high is None else [of_data(np.clip(data, low, high))]


def _clip_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    # A lower bound below every upper one.
    yield 1, Need(-2.0, -1.0, COUNT)
    yield 2, Need(1.0, 2.0, COUNT)


def _clipped_carry(node: Node, inputs: Sequence[Value], need: Need) -> Demands:
    low = node.attributes.get("min")
    high = node.attributes.get("max")
    for place in (1, 2):
        ends = ends_of(inputs[place]) if place < len(inputs) else None
        if ends is not None:
            low, high = (ends[0], high) if place == 1 else (low, ends[1])
    below = need.low > -inf and (low is None or not is_met(low, need))
    above = need.high < inf and (high is None or high > need.high)
    if below or above:
        yield 0, need


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Clip",
        moves=True,
        steers=(1, 2),
        order="moved",
        reference="old_forms",
        batched=elementwise,
        shape=_clip_shape,
        ranges=_clip_ranges,
        carries=_clipped_carry,
        mutations={"wrong-clip-bound", "drop-clip-bound"},
    ),
)
