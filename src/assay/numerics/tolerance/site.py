"""A place where a kernel rounds, and the rules of single roundings.

A rounding error is uniform over one unit, hence the thirds. Movement of data adds nothing, and neither do relu, max and clip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.numerics.oracle.probe import Call
from assay.numerics.tolerance.contract import Arithmetic
from assay.ports import Tensor

EXACT = 0.0


@dataclass(frozen=True)
class Site:
    """One place in the graph: its exact value, the operator it lies in, and what its rounding depends on."""

    kind: str
    value: Tensor
    call: Call
    operands: Mapping[str, Any]
    again: Callable[..., tuple[Any, ...]]

    def x(self, position: int = 0) -> Tensor:
        """An input of the operator, or the operand `x` of a place inside one."""
        given: Tensor = self.operands["x"] if "x" in self.operands else self.call.inputs[position]
        return given

    def squared(self, *inputs: Tensor) -> Tensor:
        """The operator on squared inputs: the sum of squared terms where it is a sum of products."""
        result: Tensor = self.again(*(one * one for one in inputs))[0]
        return np.maximum(result, 0)


Variance = Any
"""An array like the value, or one number for all of it."""
Rule = Callable[[Site, Arithmetic], Variance]


def rounding(site: Site, unit: Arithmetic) -> Variance:
    """One correctly rounded result in the type of storage."""
    return unit.storage**2 / 3 * np.square(site.value)


def whole(*arrays: Any) -> bool:
    """Whole numbers throughout."""
    return all(bool(np.all(np.rint(one) == one)) for one in arrays)


def fits(value: Tensor, unit: float) -> bool:
    """Whether a significand of that roundoff holds these whole numbers."""
    return not value.size or float(np.max(np.abs(value))) * unit <= 1.0


def text_of(value: Any) -> str:
    """An attribute that may have come as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def arithmetic(site: Site, unit: Arithmetic) -> Variance:
    """Sums, differences and products of two numbers; of whole ones they are exact."""
    if whole(*site.call.inputs) and fits(site.value, unit.storage):
        return EXACT
    return rounding(site, unit)


def inner(site: Site, unit: Arithmetic) -> Variance:
    """One result inside a fused operator, kept in the type of accumulation."""
    return unit.accumulate**2 / 3 * np.square(site.value)


def fused(site: Site, unit: Arithmetic) -> Variance:
    """Division, or several roundings in one operator."""
    return 2.25 * unit.storage**2 / 3 * np.square(site.value)


def constant(site: Site, unit: Arithmetic) -> Variance:
    """Stored numbers are exact, unless the flow stores them in a coarser type than the model."""
    return rounding(site, unit) if unit.storage > 2.0**-24 else EXACT


def cast(site: Site, unit: Arithmetic) -> Variance:
    """Whole numbers that the type holds stay as they are."""
    x = np.asarray(site.call.inputs[0])
    if x.dtype.kind in "biu" and (not x.size or float(np.max(np.abs(x.astype(np.float64)))) * unit.storage <= 1.0):
        return EXACT
    return rounding(site, unit)


def scatter(site: Site, unit: Arithmetic) -> Variance:
    """Movement, unless what meets at one place is added or multiplied."""
    return rounding(site, unit) if text_of(site.call.attributes.get("reduction", "none")) in ("add", "mul") else EXACT


def steps(site: Site, unit: Arithmetic) -> Variance:
    """Before rounding to an integer grid, in its steps: fixed-point arithmetic may tip a near tie."""
    return unit.steps**2 + (unit.accumulate * 4) ** 2 / 3 * np.square(site.value)


def fallback(site: Site, unit: Arithmetic) -> Variance:
    """Stated, and wide: 8 units of the element, and 8 of the root mean square of the output."""
    value = site.value
    finite = value[np.isfinite(value)]
    level = float(np.mean(np.square(finite))) if finite.size else 0.0
    return 64 * unit.storage**2 / 3 * (np.square(value) + level)
