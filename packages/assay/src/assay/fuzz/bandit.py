"""Which generator is asked next on which flow: what pays is asked more, and what was hardly asked is tried.

A cause found is an event of a process whose rate nobody knows. Each arm is worth the upper end of what its rate may be: mean and two
standard deviations of a Gamma-Poisson estimate (optimism in the face of uncertainty: Auer, Cesa-Bianchi, Fischer, Machine Learning 47,
2002). Old finds fade, because a sweep over a finite grid dries up."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from assay.fuzz.corpus import Arm

HALF_LIFE_S = 120.0
"""Of processor time on that arm: what was found before counts half."""
PRIOR_S = 4.0


def worth(arm: Arm) -> float:
    """Causes for each second of processor time that the arm may still give."""
    seconds = arm.recent_s + PRIOR_S
    mean = (arm.recent_found + 1.0) / seconds
    return mean + 2.0 * math.sqrt(mean / seconds)


def choose(arms: Sequence[Arm], count: int) -> list[Arm]:
    """The best `count`, each once; all where there are fewer."""
    return sorted(arms, key=lambda arm: (-worth(arm), arm.name))[:count]


def spent(arm: Arm, seconds: float) -> Arm:
    """After so much processor time."""
    fade = 0.5 ** (seconds / HALF_LIFE_S)
    return replace(
        arm,
        cpu_s=arm.cpu_s + seconds,
        recent_s=arm.recent_s * fade + seconds,
        recent_found=arm.recent_found * fade,
    )


def paid(arm: Arm) -> Arm:
    """After a cause that nobody had seen."""
    return replace(arm, found=arm.found + 1, recent_found=arm.recent_found + 1.0)
