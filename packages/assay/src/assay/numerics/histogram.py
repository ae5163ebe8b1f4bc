"""Absolute errors counted by powers of two, and quantiles from the counts.

A bin is the exponent and the first three bits of the mantissa of the error as float64: eight bins an octave, so that a
bin is at most one eighth wide. The bit pattern shifted right is the number of the bin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.comparison import Histogram

Counts = np.ndarray[Any, np.dtype[np.int64]]

_WIDE_SHIFT = 49
BINS = 2048 << 3
_MOST_SHOWN = 64


def count_wide(errors: np.ndarray[Any, np.dtype[np.float64]]) -> Counts:
    """Counts of non-negative finite errors in BINS bins."""
    return np.bincount(errors.view(np.int64) >> _WIDE_SHIFT, minlength=BINS)


def _edge(bin_number: int) -> float:
    return float(np.array(bin_number << _WIDE_SHIFT, np.int64).view(np.float64))


def quantile(counts: Counts, share: float, largest: float) -> float:
    """The error that `share` of all stay at or below: interpolated in its bin, so within an eighth; at most `largest`."""
    running = np.cumsum(counts)
    rank = share * float(running[-1])
    bin_number = int(np.searchsorted(running, rank))
    if bin_number == 0:
        return 0.0
    low, high = _edge(bin_number), _edge(bin_number + 1)
    inside = (rank - float(running[bin_number - 1])) / float(counts[bin_number])
    return min(low + inside * (high - low), largest)


def by_octave(counts: Counts, scale: float) -> Histogram | None:
    """One bin an octave, edges divided by `scale`; the first bin holds zero and all that is 2^-64 below the largest."""
    if not counts.any():
        return None
    octaves = counts.reshape(-1, 8).sum(axis=1)
    used = np.flatnonzero(octaves[1:]) + 1
    if used.size == 0:
        return Histogram(edges=(0.0, float(np.finfo(np.float64).tiny) / scale), counts=(int(octaves[0]),))
    last = int(used[-1])
    first = max(int(used[0]), last - _MOST_SHOWN + 2)
    edges = [0.0, *(_edge(octave << 3) / scale for octave in range(first, last + 1)), 2 * _edge(last << 3) / scale]
    return Histogram(
        edges=tuple(edges),
        counts=(int(octaves[:first].sum()), *(int(number) for number in octaves[first : last + 1])),
    )
