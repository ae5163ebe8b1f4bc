"""One number from the calls of two engines that took turns: the middle of the logarithms of their ratios, pair by pair.

Two turns side by side see the same machine: a clock that changes, caches that a neighbour has emptied and a slice of time
that begins or ends fall on both. Medians of several turns on either side, compared with one another, keep all of that.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import combinations_with_replacement

TURN_S = {"thread": 2e-4, "caller": 1e-2, "device": 1e-3}
"""By clock, the least that one reading spans. A thread's costs 0.75 us to read. Engines of several threads have the caller's.
A device's events are told to half a microsecond, and calls are many: it has a few in a turn."""
MANY = 64
"""Pairs, from which on the median is sharp enough. Short calls give many, and few of them are wild, as they meet the end of
a slice of time; long calls give few, and all of them are a little restless: what is sharpest for those is a mean."""


def paired_ratio(mine: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Seconds of turns in quadruples ABBA or BAAB, two of each side in every one, in the order taken: the n-th of one side
    lies beside the n-th of the other.

    Of many pairs the median; of few the median of the means of any two of them (Hodges and Lehmann, Annals of Mathematical
    Statistics 34, 1963). None where the clock stood still in half of the turns.
    """
    logs = [math.log(own / other) for own, other in zip(mine, theirs, strict=True) if own > 0.0 and other > 0.0]
    if not logs or 2 * len(logs) <= len(mine):
        return None
    if len(logs) >= MANY:
        return statistics.median(logs)
    return statistics.median((first + other) / 2.0 for first, other in combinations_with_replacement(logs, 2))
