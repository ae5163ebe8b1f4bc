"""The one pass over both sides, in float64: exact for every type, and what the float32 pass falls back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.dtype import is_floating
from assay.numerics import histogram, ulp
from assay.numerics.accumulator import EXACT, WORST, Accumulator, Point, keep_worst
from assay.numerics.chunks import Piece
from assay.numerics.element_types import ComputeType
from assay.numerics.reference_stats import squares
from assay.numerics.special_values import Wide, split_specials
from assay.ports import Tensor


@dataclass(frozen=True, slots=True)
class Terms:
    """What the pass needs to know about an output: `rtol` and `atol` in its own unit, the scale, the type judged in."""

    lane: ComputeType
    dtype: str
    rtol: float
    atol: float
    scale: float
    total: int


def add_wide(account: Accumulator, piece: Piece, terms: Terms) -> None:
    """Account for one chunk. NaN and infinities are compared as classes and left out of the metrics."""
    if terms.lane is ComputeType.INTEGER:
        error = _whole_difference(piece.actual, piece.expected)
        actual, expected = piece.actual.astype(np.float64), piece.expected.astype(np.float64)
        _figures(account, error, actual, expected, np.arange(piece.start, piece.start + error.size), terms)
        return
    left, right = piece.actual, piece.expected
    actual, expected = left.astype(np.float64), right.astype(np.float64)
    positions = np.arange(piece.start, piece.start + actual.size)
    finite = split_specials(account, actual, expected, piece.start, terms.dtype)
    if finite is not None:
        actual, expected, positions = actual[finite], expected[finite], positions[finite]
        left, right = left[finite], right[finite]
    if not actual.size:
        return
    count_ulps(account, left, right)
    if terms.scale != 1.0:
        actual, expected = actual * terms.scale, expected * terms.scale
    _figures(account, np.abs(actual - expected), actual, expected, positions, terms)


def _whole_difference(actual: Tensor, expected: Tensor) -> Wide:
    """|actual - expected| of integers, exact until the last rounding to float64: an int64 that is off by one shows."""
    if np.dtype(np.uint64) not in (actual.dtype, expected.dtype):
        actual, expected = actual.astype(np.int64), expected.astype(np.int64)
    high, low = np.maximum(actual, expected), np.minimum(actual, expected)
    return (high.view(np.uint64) - low.view(np.uint64)).astype(np.float64)


def count_ulps(account: Accumulator, actual: Tensor, expected: Tensor) -> None:
    """Distances on the grid of the output's type, onto which the reference (and only here) is rounded."""
    grid = actual.dtype
    if not is_floating(grid.name):
        return
    rounded = expected.astype(grid)
    kept = np.isfinite(rounded.astype(np.float64))
    if not kept.all():
        actual, rounded = actual[kept], rounded[kept]
    account.ulps += ulp.count(ulp.distance(actual, rounded))


def used(error: Wide, expected: Wide, terms: Terms) -> Wide:
    """The share of its allowance that each error takes: 0 where there is no error, infinity where none is allowed."""
    allowed = np.abs(expected) * terms.rtol + terms.atol * terms.scale
    return np.where(error == 0.0, 0.0, np.where(allowed >= 0.0, error / allowed, np.inf))


def _figures(account: Accumulator, error: Wide, actual: Wide, expected: Wide, positions: Any, terms: Terms) -> None:
    account.pairs += error.size
    account.sum_error += float(error.sum())
    account.squared_error += squares(error)
    account.squared_actual += squares(actual)
    account.max_abs = max(account.max_abs, float(error.max()))
    account.lowest = min(account.lowest, float(actual.min()) / terms.scale)
    account.highest = max(account.highest, float(actual.max()) / terms.scale)
    divisor = np.abs(expected)
    relative = np.divide(error, divisor, out=np.zeros_like(error), where=divisor != 0.0)
    account.max_rel = max(account.max_rel, float(relative.max()))
    if account.envelope is not None:
        near = account.envelope.above(divisor, error)
        account.envelope.add(divisor[near], error[near], expected[near], actual[near], positions[near])
    budget = used(error, expected, terms)
    highest = float(budget.max())
    if highest > 1.0:
        account.outside += int(np.count_nonzero(budget > 1.0))
    account.budget = max(account.budget, highest)
    if highest > account.bar:
        keep_worst(account, points(budget, account.bar, actual, expected, positions, terms.scale))
    if np.isfinite(account.max_abs):
        account.octaves += histogram.count_wide(error)
    if terms.total <= EXACT:
        account.errors.append(error)


def points(budget: Wide, bar: float, actual: Wide, expected: Wide, positions: Any, scale: float) -> list[Point]:
    """The WORST elements of a chunk that use more than `bar`; of equal ones the first."""
    if bar == 0.0 and budget.size > WORST:
        bar = max(0.0, float(np.nextafter(np.partition(budget, -WORST)[-WORST], -np.inf)))
    array = np.flatnonzero(budget > bar)
    array = array[np.argsort(-budget[array], kind="stable")][:WORST]
    return [
        Point(float(budget[at]), int(positions[at]), float(expected[at]) / scale, float(actual[at]) / scale)
        for at in array
    ]


def products(piece: Piece, scale: float) -> tuple[float, float]:
    """Sums of actual * expected and of expected^2 of one chunk, over the pairs that are finite on both sides, scaled."""
    actual, expected = piece.actual.astype(np.float64) * scale, piece.expected.astype(np.float64) * scale
    finite = np.isfinite(actual) & np.isfinite(expected)
    actual, expected = actual[finite], expected[finite]
    return float(np.sum(actual * expected)), squares(expected)
