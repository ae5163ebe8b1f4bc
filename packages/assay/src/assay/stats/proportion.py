"""Of counts of successes: the interval of a share, a quantile, and whether one count is surely higher. Without scipy.stats, whose import
takes a second."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper end of the score interval of `successes` in `trials`; (0, 1) where nothing was tried. Wilson, JASA 22 (1927) 209, as
    recommended by Brown, Cai and DasGupta (2001)."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return (middle - half if successes else 0.0), (middle + half if successes < trials else 1.0)


def binomial_quantile(probability: float, trials: int, share: float) -> int:
    """The smallest count that is not exceeded with this probability."""
    from scipy.special import bdtr, bdtrik

    count = math.ceil(float(bdtrik(probability, trials, share)))
    below = max(count - 1, 0)
    return below if bdtr(below, trials, share) >= probability else count


def more_failures_by_chance(old: int, new: int, sent: int) -> float:
    """The probability that at least `new` of all failures fall on the second of two services, each sent as many requests, where both are
    alike: Fisher's exact test (Fisher 1935, 21)."""
    failures = old + new
    all_ways = _log_ways(2 * sent, failures)
    return math.fsum(
        math.exp(_log_ways(sent, count) + _log_ways(sent, failures - count) - all_ways)
        for count in range(max(new, failures - sent), min(sent, failures) + 1)
    )


def _log_ways(all_of_them: int, chosen: int) -> float:
    return math.lgamma(all_of_them + 1) - math.lgamma(chosen + 1) - math.lgamma(all_of_them - chosen + 1)
