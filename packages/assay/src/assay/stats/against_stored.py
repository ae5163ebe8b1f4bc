"""Slower or not, from launches of today and launches kept from another day: the coarse answer where no engine is left to run.

Welch's test of two samples with variances of their own (Biometrika 34, 1947). Nothing was interleaved, so whatever the machine
did differently that day stands in the difference: the limit is coarse, and so is the word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.speed import SpeedRule
from assay.stats.sequential_test import Answer, SpeedAnswer

LEAST = 4


def decide_against_stored(now: Sequence[float], then: Sequence[float], rule: SpeedRule) -> Answer:
    """`now` and `then` are CPU seconds per call, one for each fresh engine. Slower: surely so, and beyond `stored_min_slowdown`;
    the same: surely not beyond it."""
    ours, theirs = ([math.log(seconds) for seconds in many if 0.0 < seconds < math.inf] for many in (now, then))
    if min(len(ours), len(theirs)) < LEAST:
        return Answer("inconclusive", math.nan, -math.inf, math.inf, len(ours), None)
    (mean, var), (base, base_var) = _moments(ours, rule), _moments(theirs, rule)
    parts = (var / len(ours), base_var / len(theirs))
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(ours) - 1) + parts[1] ** 2 / (len(theirs) - 1))
    difference, limit = mean - base, math.log1p(rule.stored_min_slowdown)
    sure = _student(1.0 - rule.alpha, freedom) * error
    most = difference + _student(1.0 - rule.beta, freedom) * error
    word: SpeedAnswer = "inconclusive"
    if difference - sure > 0.0 and difference > limit:
        word = "slower"
    elif difference + sure < -limit:
        word = "faster"
    elif most < limit:
        word = "same"
    more = 0 if word != "inconclusive" else None
    return Answer(word, difference, difference - sure, difference + sure, len(ours), more, most)


def _moments(values: Sequence[float], rule: SpeedRule) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, max(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1), rule.spread**2)


def _student(share: float, freedom: float) -> float:
    """The quantile for degrees of freedom that are no whole number."""
    # scipy.stats takes most of a second to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))
