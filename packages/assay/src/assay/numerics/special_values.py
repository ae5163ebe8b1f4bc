"""NaN and the infinities as classes: equal where both sides are of one class, a clash where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF
from assay.numerics.accumulator import KEPT, Accumulator, Clash, Point
from assay.numerics.element_types import extremes

Wide = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

_LOWEST = sorted(extremes(name)[1] for name in UNIT_ROUNDOFF if name in ("float64", "float32", "float16", "bfloat16"))
"""Largest finite values: what a kernel writes instead of an infinity, in its own type or in the one it computed in."""


def split_specials(account: Accumulator, actual: Wide, expected: Wide, start: int, dtype: str) -> Flags | None:
    """Record the clashes of one chunk; return which pairs are finite on both sides, None if all are.

    A finite reference that `dtype` cannot hold agrees with the infinity of its sign. Kinds are those of `Finding`:
    nan, infinity, and lowest_for_infinity where one side has the largest finite value of a type instead.
    """
    finite: Flags = np.isfinite(actual) & np.isfinite(expected)
    if finite.all():
        return None
    odd = np.flatnonzero(~finite)
    left, right = actual[odd], expected[odd]
    left_nan, right_nan = np.isnan(left), np.isnan(right)
    highest = extremes(dtype)[1]
    rounded = np.where(np.isfinite(right) & (np.abs(right) > highest), np.copysign(np.inf, right), right)
    same = (left_nan & right_nan) | (left == rounded)
    nan = (left_nan != right_nan) & ~same
    other = ~same & ~nan
    bounds = np.isin(np.abs(left), _LOWEST) | np.isin(np.abs(right), _LOWEST)
    lowest = other & bounds & (np.signbit(left) == np.signbit(right))
    for kind, flags in (("nan", nan), ("infinity", other & ~lowest), ("lowest_for_infinity", lowest)):
        _note(account, kind, np.flatnonzero(flags), odd, left, right, start)
    return finite


def _note(account: Accumulator, kind: str, positions: Any, odd: Any, left: Wide, right: Wide, start: int) -> None:
    if not positions.size:
        return
    clash = account.clashes.setdefault(kind, Clash())
    clash.count += int(positions.size)
    for at in positions[: KEPT - len(clash.first)]:
        clash.first.append(Point(np.inf, start + int(odd[at]), float(right[at]), float(left[at])))
