"""Percentiles, told only where there are enough samples to mean something.

The rule is the early stopping rule of MLPerf LoadGen with tolerance 0: the smallest n for which n samples without a
single one beyond the percentile would happen by luck at most once in a hundred, P(Binom(n, 1 - p) = 0) = p^n <= 1 %. It
asks for 44 samples for p90, 90 for p95, 459 for p99 and 4,603 for p99.9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CONFIDENCE = 0.99
MINIMUM_SAMPLES = 5
"""Below this not even the median is told; it is what p50 needs."""


def needed(p: float) -> int:
    """How many samples percentile `p` (in percent, 0 < p < 100) needs. Raises ValueError for a `p` outside.

    A low percentile needs as many as its mirror image: p1 as many as p99.
    """
    if not 0.0 < p < 100.0:
        raise ValueError(f"percentile {p!r} is not between 0 and 100")
    if p == 50.0:
        return MINIMUM_SAMPLES
    share = max(p, 100.0 - p) / 100.0
    return max(MINIMUM_SAMPLES, math.ceil(math.log(1.0 - CONFIDENCE) / math.log(share)))


def supported(p: float, n: int) -> bool:
    """Whether `n` samples support percentile `p` (in percent)."""
    return n >= needed(p)


def percentile(samples: Sequence[float], p: float) -> float | None:
    """Percentile `p` (in percent) in the samples' own unit, interpolated between neighbours; None: too few samples.

    NaN if a sample is NaN. The interpolation is the seventh of Hyndman and Fan (1996), the default of numpy.
    """
    if not supported(p, len(samples)):
        return None
    if any(math.isnan(sample) for sample in samples):
        return math.nan
    ordered = sorted(samples)
    place = (len(ordered) - 1) * p / 100.0
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    if low == high or place == below:
        return low
    return min(max(low + (high - low) * (place - below), low), high)
