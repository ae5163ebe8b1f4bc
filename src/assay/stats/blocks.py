"""One number from the calls of two engines that took turns: the median over blocks of the logarithm of their ratio."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

LEAST_BLOCKS = 5
BLOCK_S = {"thread": 5e-3, "process": 0.1}
"""By clock: that of a process with several threads moves in ticks of milliseconds, so its blocks are long."""
TURN_S = {"thread": 2e-4, "process": 25e-3}
"""By clock, the least that one reading spans. A thread's costs 0.75 us to read. The process's counts other cores in ticks of
up to 4 ms, and a pool of threads spins on after its call into the other engine's turn: a turn must be long beside both."""


def block_ratio(mine: Sequence[float], theirs: Sequence[float], block_s: float, *, sums: bool = False) -> float | None:
    """Seconds of calls in quadruples ABBA or BAAB, two of each side in every one, in the order taken.

    A quadruple gives the mean of its two calls for each side; a block of about `block_s` gives the ratio of its medians,
    or of its `sums` where the clock moves in ticks; at least five blocks where there are so many quadruples. None where
    no block has a time above zero on both sides.
    """
    ours = [(a + b) / 2 for a, b in zip(mine[::2], mine[1::2], strict=True)]
    others = [(a + b) / 2 for a, b in zip(theirs[::2], theirs[1::2], strict=True)]
    quad_s = 2 * (statistics.fmean(ours) + statistics.fmean(others))
    size = max(1, min(round(block_s / quad_s) if quad_s > 0 else 1, len(ours) // LEAST_BLOCKS))
    level = math.fsum if sums else statistics.median
    blocks = [(level(ours[at : at + size]), level(others[at : at + size])) for at in range(0, len(ours), size)]
    ratios = [math.log(own / other) for own, other in blocks if own > 0 and other > 0]
    return statistics.median(ratios) if ratios else None
