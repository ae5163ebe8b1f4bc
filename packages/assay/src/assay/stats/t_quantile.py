"""Quantiles of Student's t for whole degrees of freedom: its distribution is a finite sum then (Abramowitz and Stegun, Handbook
of Mathematical Functions, 1964, 26.7.3 and 26.7.4). No library: workers ask too, in environments that have none."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist


@cache
def t_quantile(share: float, freedom: int) -> float:
    """The t below which `share` of the distribution lies. Newton's method from the normal quantile: above the middle the
    distribution is concave, so that every step but a rounded one goes up."""
    if share < 0.5:
        return -t_quantile(1.0 - share, freedom)
    t = NormalDist().inv_cdf(share)
    while (step := (share - _below(t, freedom)) / _density(t, freedom)) > 1e-12 * t:
        t += step
    return t


def _below(t: float, freedom: int) -> float:
    angle = math.atan2(t, math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for place in range(2 + odd, freedom + 1, 2):
        total += term
        term *= square * (place - 1) / place
    within = math.sin(angle) * total
    return 0.5 + ((angle + within) / math.pi if odd else within / 2.0)


def _density(t: float, freedom: int) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
