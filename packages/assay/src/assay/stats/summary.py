"""The plain metrics of a set of samples: middle, spread, rate. NaN in, NaN out; no samples, NaN."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def median(samples: Sequence[float]) -> float:
    """The middle sample, or the mean of the two in the middle."""
    if not samples or any(math.isnan(sample) for sample in samples):
        return math.nan
    return float(statistics.median(samples))


def mean(samples: Sequence[float]) -> float:
    """The arithmetic mean."""
    return statistics.fmean(samples) if samples else math.nan


def sd(samples: Sequence[float]) -> float:
    """The standard deviation of a sample (divisor n - 1); NaN below two samples or where one is not finite."""
    if len(samples) < 2 or not all(math.isfinite(sample) for sample in samples):
        return math.nan
    return float(statistics.stdev(samples))


def throughput(batch: int, samples: Sequence[float]) -> float:
    """Items per second at the median of `samples` (seconds per call of `batch` items); NaN unless that is positive."""
    middle = median(samples)
    return batch / middle if middle > 0.0 else math.nan
