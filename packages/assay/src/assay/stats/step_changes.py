"""Where a history changed its level: PELT (Killick, Fearnhead and Eckley, JASA 107, 2012), as `ruptures` computes it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

PENALTY = 30.0
SEGMENT = 4
MEDIAN = 5
CLIP = 3.0


@dataclass(frozen=True)
class Step:
    """From `place` on the level is `after`, before it was `before` (medians of the two segments, in the unit of the values)."""

    place: int
    before: float
    after: float

    @property
    def percent(self) -> float:
        """The change in percent of the level before."""
        return 100.0 * (self.after / self.before - 1.0)


def step_changes(values: Sequence[float]) -> list[Step]:
    """The changes of level of positive, finite values in the order of time; none for fewer than two segments' worth.

    On logarithms, clipped to three median absolute deviations about a running median of five; the penalty is a multiple
    of the variance, which is estimated from first differences so that the steps themselves do not count.
    """
    if len(values) < 2 * SEGMENT or not all(math.isfinite(value) and value > 0.0 for value in values):
        return []
    import ruptures

    logs = _clipped(np.log(np.asarray(values, np.float64)))
    variance = max(float(np.median(np.abs(np.diff(logs)))) * 1.4826 / math.sqrt(2.0), 1e-4) ** 2
    # The linear kernel's cost is the squared error about the mean, computed in C: 700 points cost seconds in Python.
    kernel = ruptures.KernelCPD(kernel="linear", min_size=SEGMENT).fit(logs.reshape(-1, 1))
    ends = kernel.predict(pen=PENALTY * variance)
    edges = [0, *ends]
    levels = [statistics.median(values[left:right]) for left, right in pairwise(edges)]
    return [
        Step(int(place), before, after) for place, before, after in zip(edges[1:-1], levels, levels[1:], strict=False)
    ]


def _clipped(logs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    padded = np.pad(logs, MEDIAN // 2, mode="reflect")  # A wild value at the edge, repeated, would be its own median.
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, MEDIAN), axis=1)
    spread = max(1.4826 * float(np.median(np.abs(logs - middle))), 1e-4)
    clipped = np.clip(logs, middle - CLIP * spread, middle + CLIP * spread)
    return np.asarray(clipped, np.float64)
