"""The interval of a share: Wilson, JASA 22 (1927) 209, as recommended by Brown, Cai and DasGupta (2001)."""

from __future__ import annotations


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper end of the score interval of `successes` in `trials`; (0, 1) where nothing was tried."""
    from scipy.stats import binomtest

    if trials == 0:
        return 0.0, 1.0
    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)
