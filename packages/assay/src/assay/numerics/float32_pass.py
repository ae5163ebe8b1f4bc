"""The one pass over both sides where every value is a float32: single precision finds, double precision decides.

Differences and ratios are formed in float32, whose rounding is at most a few 2^-24. Whatever hangs on more than that
(the largest ones, which side of its allowance an element is on) is formed again in float64, for those few elements.
A chunk with a NaN, an infinity or an overflow goes to the float64 pass as a whole.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.numerics import histogram, joint_histogram, native_pass
from assay.numerics.accumulator import EXACT, WORST, Accumulator, Point, keep_worst
from assay.numerics.chunks import CHUNK, Piece
from assay.numerics.error_envelope import Envelope
from assay.numerics.float64_pass import Terms, add_wide, count_ulps, points, used
from assay.numerics.reference_stats import single, squares_narrow, total
from assay.ports import Tensor

_SLACK = 1e-6
Narrow = np.ndarray[Any, np.dtype[np.float32]]


class _Buffers(threading.local):
    """One set for each thread: allocating them for each chunk would cost as much as the arithmetic."""

    def __init__(self) -> None:
        self.error = np.empty(CHUNK, np.float32)
        self.size = np.empty(CHUNK, np.float32)
        self.ratio = np.empty(CHUNK, np.float32)
        self.whole = np.empty(CHUNK, np.int64)


_BUFFERS = _Buffers()


def suits(terms: Terms) -> bool:
    """Whether allowances are normal numbers of float32, so that a ratio formed in it is nearly right."""
    return 1e-30 <= terms.atol <= 1e30 and 0.0 <= terms.rtol <= 1.0


@dataclass(slots=True)
class Tally:
    """The joint histogram of a block, kept apart until its end: half a megabyte, added to once a chunk."""

    keys: histogram.Counts
    columns: histogram.Counts
    ulps: histogram.Counts
    equal: int = 0


def add_block(account: Accumulator, block: Iterable[Piece], terms: Terms) -> None:
    """Account for chunks of at most CHUNK elements each; the same metrics as `add_wide` to 1e-6."""
    tally = Tally(
        np.zeros(joint_histogram.KEYS, np.int64),
        np.zeros(native_pass.COLUMNS, np.int64),
        np.zeros(native_pass.ULP_BINS, np.int64),
    )
    for piece in block:
        if native_pass.suits(piece.actual, piece.expected):
            _add_compiled(account, tally, piece, terms)
        else:
            _add(account, tally, piece, terms)
    octaves, ulps = joint_histogram.split(tally.keys, tally.equal)
    account.octaves += octaves + joint_histogram.by_error(tally.columns)
    account.ulps += ulps + tally.ulps


def _add_compiled(account: Accumulator, tally: Tally, piece: Piece, terms: Terms) -> None:
    """The same by the compiled pass, in one reading of both sides."""
    envelope = account.envelope
    passed = native_pass.pairs(
        piece.actual,
        piece.expected,
        rtol=terms.rtol,
        atol=terms.atol,
        bar=account.bar,
        known=(account.max_abs, account.max_rel),
        columns=tally.columns,
        ulps=tally.ulps,
        envelope=envelope,
    )
    if passed is None:
        add_wide(account, piece, terms)
        return
    counted, above = passed
    if envelope is not None:
        _envelop(
            envelope, piece, piece.actual, piece.expected, np.arange(piece.actual.size) if above is None else above
        )
    account.pairs += piece.actual.size
    account.sum_error += counted.sum_error
    account.squared_error += counted.squared_error
    account.squared_actual += counted.squared_actual
    account.max_abs, account.max_rel = counted.max_abs, counted.max_rel
    account.budget = max(account.budget, counted.budget)
    account.outside += counted.outside
    account.lowest, account.highest = min(account.lowest, counted.lowest), max(account.highest, counted.highest)
    worst = zip(counted.worst_budget[: counted.found], counted.worst_index[: counted.found], strict=True)
    worst_elements = [
        Point(budget, piece.start + at, float(piece.expected[at]), float(piece.actual[at])) for budget, at in worst
    ]
    if worst_elements:
        keep_worst(account, worst_elements)
    if terms.total <= EXACT:
        account.errors.append(np.abs(piece.actual.astype(np.float64) - piece.expected))


def _add(account: Accumulator, tally: Tally, piece: Piece, terms: Terms) -> None:
    actual, expected = single(piece.actual), single(piece.expected)
    count = actual.size
    error, size, ratio = _BUFFERS.error[:count], _BUFFERS.size[:count], _BUFFERS.ratio[:count]
    np.subtract(actual, expected, out=error)
    np.abs(error, out=error)
    largest = float(error.max())
    if not math.isfinite(largest):
        add_wide(account, piece, terms)
        return
    account.pairs += count
    smallest = 0.0
    if largest:
        account.sum_error += total(error)
        account.squared_error += squares_narrow(error)
        np.abs(expected, out=size)
        smallest = float(size.min())
        if account.envelope is not None:
            _envelop(account.envelope, piece, actual, expected, account.envelope.above(size, error))
        _largest(account, largest, error, size, ratio, actual, expected)
        _allowance(account, error, size, ratio, actual, expected, piece.start, terms)
    _count(account, tally, piece, actual, expected, error, largest, smallest)
    if terms.total <= EXACT:
        account.errors.append(error.astype(np.float64))
    energy = squares_narrow(actual)
    account.squared_actual += energy
    low, high = _extremes(piece.actual, actual, energy)
    account.lowest, account.highest = min(account.lowest, low), max(account.highest, high)


def _envelop(envelope: Envelope, piece: Piece, actual: Narrow, expected: Narrow, near: Any) -> None:
    if near.size:
        left, right, error = _exact(actual, expected, near)
        envelope.add(np.abs(right), error, right, left, piece.start + near)


def _extremes(raw: Tensor, values: Narrow, energy: float) -> tuple[float, float]:
    """The lowest and the highest value; of a few, where these and the sum of squares show that it is alive."""
    few = values[:: values.size // 8 + 1]
    low, high = float(few.min()), float(few.max())
    if low != high and energy < 1e32 and raw.dtype == np.float32:
        return low, high
    return float(values.min()), float(values.max())


def _exact(actual: Narrow, expected: Narrow, chosen: Any) -> tuple[Any, Any, Any]:
    left, right = actual[chosen].astype(np.float64), expected[chosen].astype(np.float64)
    return left, right, np.abs(left - right)


def _largest(
    account: Accumulator, largest: float, error: Narrow, size: Narrow, ratio: Narrow, actual: Narrow, expected: Narrow
) -> None:
    """The largest absolute error, and the largest relative one where the reference is not zero."""
    if largest > account.max_abs * (1.0 - _SLACK):
        chosen = np.flatnonzero(error >= largest * (1.0 - _SLACK))
        account.max_abs = max(account.max_abs, float(_exact(actual, expected, chosen)[2].max()))
    np.divide(error, size, out=ratio)
    largest = float(np.fmax.reduce(ratio))
    if not largest <= account.max_rel * (1.0 - _SLACK):
        ratio[size == 0.0] = 0.0
        largest = float(ratio.max())
        # A quotient that float32 cannot hold, or an error that it cannot normalise, decides nothing.
        bar = min(largest, 1e37) * (1.0 - _SLACK)
        _, right, difference = _exact(actual, expected, np.flatnonzero((ratio >= bar) & (size != 0.0)))
        if right.size:
            account.max_rel = max(account.max_rel, float((difference / np.abs(right)).max()))


def _allowance(
    account: Accumulator,
    error: Narrow,
    size: Narrow,
    ratio: Narrow,
    actual: Narrow,
    expected: Narrow,
    start: int,
    terms: Terms,
) -> None:
    """Elements out of tolerance, the largest share of an allowance, and the worst elements."""
    size *= np.float32(terms.rtol)
    size += np.float32(terms.atol)
    np.divide(error, size, out=ratio)
    largest = float(ratio.max())
    if largest > 1.0 - _SLACK:
        near = np.flatnonzero(np.abs(ratio - np.float32(1.0)) <= _SLACK)
        account.outside += int(np.count_nonzero(ratio > 1.0 + _SLACK))
        _, right, difference = _exact(actual, expected, near)
        account.outside += int(np.count_nonzero(used(difference, right, terms) > 1.0))
    bar = account.bar
    if largest <= bar * (1.0 - _SLACK):
        return
    if bar == 0.0 and ratio.size > 4 * WORST:
        bar = float(np.partition(ratio, -4 * WORST)[-4 * WORST])
    chosen = np.flatnonzero(ratio >= bar * (1.0 - _SLACK))
    left, right, difference = _exact(actual, expected, chosen)
    budget = used(difference, right, terms)
    account.budget = max(account.budget, float(budget.max()))
    keep_worst(account, points(budget, account.bar, left, right, start + chosen, terms.scale))


def _count(
    account: Accumulator,
    tally: Tally,
    piece: Piece,
    actual: Narrow,
    expected: Narrow,
    error: Narrow,
    largest: float,
    smallest: float,
) -> None:
    """The two histograms, of which the small types count their distances on their own grid. Overwrites the other
    buffers; `smallest` is the smallest magnitude of the reference."""
    if not largest:
        tally.keys[0] += error.size
        tally.equal += error.size
        return
    if not (piece.actual.dtype == piece.expected.dtype == np.float32):
        account.octaves += histogram.count_wide(error.astype(np.float64))
        count_ulps(account, piece.actual, piece.expected)
        return
    apart, number = _BUFFERS.size[: error.size].view(np.int32), _BUFFERS.ratio[: error.size]
    joint_histogram.distances(actual, expected, apart, number.view(np.int32))
    keys = joint_histogram.count(error, apart, number, _BUFFERS.whole[: error.size])
    tally.keys[: keys.size] += keys
    # The cell of the smallest errors holds distance 0; distance 1 only between numbers below 2^-105.
    rare = keys[0] and smallest < 2.0**-104
    tally.equal += int(np.count_nonzero(actual == expected)) if rare else int(keys[0])
