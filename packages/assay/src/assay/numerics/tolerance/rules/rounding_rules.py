"""A place where a kernel rounds, and the rules of single roundings.

A rounding error is uniform over one unit, hence the thirds. Movement of data adds nothing, and neither do relu, max and clip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF, numpy_dtype
from assay.core.note import NoteCode, noted
from assay.errors import Unsupported
from assay.numerics.oracle.hooks import Call
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.dyadic import are_powers_of_two, holds, largest, step_of
from assay.numerics.tolerance.rules.squares import sum_of_squares
from assay.ports import Tensor

EXACT = 0.0
_FEW = 16


class RuleSite(NamedTuple):
    """One place in the graph: its exact value, the operator it lies in, and what its rounding depends on."""

    kind: str
    value: Tensor
    call: Call
    operands: Mapping[str, Any]
    again: Callable[..., tuple[Any, ...]]

    def x(self, position: int = 0) -> Tensor:
        """An input of the operator, or the operand `x` of a place inside one."""
        operand: Tensor = self.operands["x"] if "x" in self.operands else self.call.inputs[position]
        return operand

    def squared(self, *inputs: Tensor) -> Tensor:
        """The operator on squared inputs: the sum of squared terms where it is a sum of products."""
        return sum_of_squares(inputs, self.again, self.value.size)


def no_again(*_: Any) -> tuple[Any, ...]:
    """Of a place inside an operator."""
    raise Unsupported(noted(NoteCode.PLACE_NOT_AGAIN))


Variance = Any
"""An array like the value, or one number for all of it."""
Rule = Callable[[RuleSite, Arithmetic], Variance]


def rounding(site: RuleSite, unit: Arithmetic) -> Variance:
    """One correctly rounded result in the type of storage."""
    return unit.storage**2 / 3 * np.square(site.value)


def whole(*arrays: Any) -> bool:
    """Whole numbers throughout. The first few mostly tell."""
    return all(
        bool(np.all(np.rint(part) == part))
        for array in arrays
        for part in (np.asarray(array).reshape(-1)[:_FEW], array)
    )


def fits(value: Tensor, unit: float) -> bool:
    """Whether a significand of that roundoff holds these whole numbers."""
    return not value.size or float(np.max(np.abs(value))) * unit <= 1.0


def held(value: Tensor, unit: float) -> bool:
    """Whether these are whole numbers of a type of that roundoff, which stay as they are."""
    return whole(value) and float(np.max(np.abs(value), initial=0.0)) * unit <= 1.0


def stored(value: Tensor, unit: float) -> bool:
    """Whether rounding to the type of that roundoff leaves every one of these as it is."""
    dtype = next(
        (numpy_dtype(name) for name, roundoff in UNIT_ROUNDOFF.items() if roundoff == unit and name != "tf32"), None
    )
    if dtype is None:
        return held(value, unit)
    with np.errstate(all="ignore"):
        return bool(np.array_equal(value.astype(dtype).astype(value.dtype), value, equal_nan=True))


def text_of(value: Any) -> str:
    """An attribute that may have come as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def arithmetic(site: RuleSite, unit: Arithmetic) -> Variance:
    """Sums, differences and products of two numbers; of whole and of dyadic ones they are exact."""
    if whole(*site.call.inputs) and fits(site.value, unit.storage):
        return EXACT
    left, right = site.call.inputs[:2]
    steps = [float(step_of(operand).min()) for operand in (left, right)]
    sizes = [largest(operand) for operand in (left, right)]
    multiplies = site.call.operator == "Mul"
    step, size = (steps[0] * steps[1], sizes[0] * sizes[1]) if multiplies else (min(steps), sum(sizes))
    return EXACT if holds(size, step, unit.storage) else rounding(site, unit)


def inner(site: RuleSite, unit: Arithmetic) -> Variance:
    """One result inside a fused operator, kept in the type of accumulation."""
    return unit.accumulate**2 / 3 * np.square(site.value)


def fused(site: RuleSite, unit: Arithmetic) -> Variance:
    """Division, or several roundings in one operator. Dividing by a power of two rounds nothing."""
    if site.call.operator == "Div" and are_powers_of_two(site.call.inputs[1]):
        x = site.call.inputs[0]
        if holds(largest(x), step_of(x), unit.storage):
            return EXACT
    return 2.25 * unit.storage**2 / 3 * np.square(site.value)


def constant(site: RuleSite, unit: Arithmetic) -> Variance:
    """Stored numbers are exact, unless the flow stores them in a coarser type than the model, which does not hold them."""
    return rounding(site, unit) if unit.storage > 2.0**-24 and not stored(site.value, unit.storage) else EXACT


def cast(site: RuleSite, unit: Arithmetic) -> Variance:
    """Numbers that the type holds stay as they are: a noisy exponent of 3 would make NaN of what is negative."""
    value = np.asarray(site.x())
    if value.dtype.kind in "iu" and (int(np.iinfo(value.dtype).max) + 1) * unit.storage <= 1.0:
        return EXACT  # every number of that type is held: a table of millions of them need not be looked at
    return EXACT if stored(np.asarray(site.value), unit.storage) else rounding(site, unit)


def scatter(site: RuleSite, unit: Arithmetic) -> Variance:
    """Movement, unless what meets at one place is added or multiplied."""
    return rounding(site, unit) if text_of(site.call.attributes.get("reduction", "none")) in ("add", "mul") else EXACT


def dequantized(site: RuleSite, unit: Arithmetic) -> Variance:
    """(x - zero_point) * scale of a grid of eight bits or less. An engine may keep it as x * scale + offset, the offset being where
    the grid begins (OpenVINO's FakeQuantize), and then rounds numbers of that size; by powers of two neither rounds anything."""
    x, scale = np.asarray(site.x()), np.asarray(site.call.inputs[1])
    if x.dtype.kind in "iu" and are_powers_of_two(scale):
        range_ = np.iinfo(x.dtype)
        small = max(-range_.min, range_.max) * 4 * unit.storage <= 1.0
        if small or (len(site.call.inputs) < 3 and fits(x, unit.storage)):
            return EXACT
    if x.dtype.kind not in "iu" or x.dtype.itemsize > 1 or scale.size != 1:
        return rounding(site, unit)
    offset = site.value - scale.reshape(()) * (x.astype(site.value.dtype) - np.iinfo(x.dtype).min)
    return rounding(site, unit) + 2 * unit.accumulate**2 / 3 * np.square(offset)


def fallback(site: RuleSite, unit: Arithmetic) -> Variance:
    """Stated, and wide: 8 units of the element, and 8 of the root mean square of the output."""
    value = site.value
    finite = value[np.isfinite(value)]
    level = float(np.mean(np.square(finite))) if finite.size else 0.0
    return 64 * unit.storage**2 / 3 * (np.square(value) + level)
