"""How fast something grows, with an interval: Sen, Estimates of the regression coefficient based on Kendall's tau, JASA 63 (1968).

The median of the slopes between all pairs of points: an allocator that grows in one stair at the start does not tilt it, and
nothing is assumed about how readings scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

LEAST_POINTS = 8
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Slope:
    """Per unit of x, with both ends of its interval."""

    value: float
    low: float
    high: float


def slope(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Slope | None:
    """None below eight points, where one is not finite, or where x does not move."""
    points = [*zip(x, y, strict=True)]
    if len(points) < LEAST_POINTS or not all(math.isfinite(value) for point in points for value in point):
        return None
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[:i] if a[0] != b[0])
    if not slopes:
        return None
    n = len(points)
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * spread
    low = max(0, math.floor((len(slopes) - reach) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + reach) / 2))
    return Slope(median(slopes), slopes[low], slopes[high])
