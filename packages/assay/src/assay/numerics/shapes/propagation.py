"""What the inputs of an operator must hold, so that its output holds what is asked of it: what several operators share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from assay.numerics.shapes.needed_values import TINY, Demands, Need
from assay.numerics.shapes.values import Node, Value


def first_input(_: Node, __: Sequence[Value], need: Need) -> Demands:
    """The first input holds what the outputs hold."""
    yield 0, need


def every_input(_: Node, inputs: Sequence[Value], need: Need) -> Demands:
    """Every input holds what the output holds."""
    yield from ((place, need) for place in range(len(inputs)))


def above_zero(_: Node, __: Sequence[Value], need: Need) -> Demands:
    """Of a function that is the identity above zero, and nowhere below."""
    if need.low > 0 or need.high < inf:
        yield 0, replace(need, low=max(need.low, 0.0))


def ends_of(value: Value) -> tuple[float, float] | None:
    """The smallest and the largest of numbers that are known."""
    if value.data is None or not value.data.size or value.data.dtype.kind not in "iuf":
        return None
    return float(value.data.min()), float(value.data.max())


def is_met(lowest: float, need: Need) -> bool:
    """From below; how far a positive number is from zero is the model's own affair."""
    return lowest >= need.low or (lowest > 0 and need.low == TINY)
