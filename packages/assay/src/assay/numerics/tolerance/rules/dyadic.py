"""Dyadic numbers, m * 2^e: sums and products of them are exact, in any order, as long as the significand holds them.

Between grids whose steps are powers of two, what is computed is a whole number of steps of a finer grid. If the sum of all magnitudes
fits the significand, every partial sum does (each is a whole number of these steps below it), so no order of summation rounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.ports import Tensor

_FEW = 16
_SPREAD = 4096
"""Numbers from all over a large array: behind a Relu the first ones may be zeros, which lie on every grid."""
_DIGITS = 53
_SCALES = 1000
"""Exponents that leave a number of full digits normal."""
SINGLE = 24
"""Binary digits of float32: what has more is no operand of an exact product there."""

Wide = np.ndarray[Any, np.dtype[np.float64]]


def step_of(array: Tensor, axis: int | None = None, digits: int = SINGLE) -> Wide:
    """The largest power of two that divides every number, of each index of `axis` where one is given (its rank is kept, so that
    it broadcasts): infinite where all are zero, 0 where one is not finite or has more than `digits` significant binary digits."""
    wide = np.asarray(array, np.float64)
    flat = wide.reshape(-1)
    for few in (flat[:_FEW], flat[:: max(1, flat.size // _SPREAD)] if flat.size > 2 * _SPREAD else flat[:0]):
        if few.size and not _step(few, None, digits).all():
            return np.zeros((1,) * wide.ndim)
    return _step(wide, axis, digits)


def _step(wide: Wide, axis: int | None, digits: int) -> Wide:
    across = tuple(other for other in range(wide.ndim) if other != axis)
    if not np.isfinite(wide).all():
        return np.zeros((1,) * wide.ndim)
    if (together := _of_one_grid(wide, across, digits)) is not None:
        return together
    mantissa, exponent = np.frexp(wide)
    whole = np.ldexp(mantissa, _DIGITS).astype(np.int64)
    lowest = np.ldexp((whole & -whole).astype(np.float64), exponent - _DIGITS)
    long = (whole != 0) & (lowest * 2.0**digits <= np.abs(wide))
    steps = np.where(whole == 0, np.inf, np.where(long, 0.0, lowest))
    array: Wide = np.min(steps, axis=across, keepdims=True, initial=np.inf)
    return array


def _of_one_grid(wide: Wide, across: tuple[int, ...], digits: int) -> Wide | None:
    """The same where all numbers are whole ones of so many digits, times one power of two; else None. The lowest bit of any is the
    lowest of all together: a fifth of the work."""
    _, top = math.frexp(largest(wide))
    scale = digits - top
    if abs(scale) > _SCALES or digits >= _DIGITS:
        return None
    scaled = wide * 2.0**scale
    whole = scaled.astype(np.int64)
    if not np.array_equal(whole, scaled):
        return None
    bits = np.bitwise_or.reduce(whole, axis=across, keepdims=True)
    return np.where(bits == 0, np.inf, (bits & -bits).astype(np.float64) * 2.0**-scale)


def are_powers_of_two(array: Tensor) -> bool:
    """Whether every number is one, positive: then dividing by it, and multiplying by its inverse, are the same and exact."""
    wide = np.asarray(array, np.float64)
    mantissa, _ = np.frexp(wide)
    return bool(wide.size) and bool(np.all(mantissa == 0.5)) and bool(np.isfinite(wide).all())


def holds(magnitude: Any, step: Any, unit: float) -> bool:
    """Whether a significand of that roundoff holds whole numbers of `step` up to `magnitude`; of 0 steps it holds none."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.asarray(step) > 0.0)) and bool(np.all(np.asarray(magnitude) * unit <= step))


def largest(array: Tensor) -> float:
    """0 of an empty one."""
    return float(np.max(np.abs(array), initial=0.0))


def is_power_of_two(count: float) -> bool:
    """Of a positive number."""
    return count > 0 and math.frexp(count)[0] == 0.5
