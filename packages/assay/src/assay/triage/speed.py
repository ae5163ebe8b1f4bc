"""How fast one engine is beside another, in the words of triage."""

from __future__ import annotations

import enum

from assay.core.verdict import VerdictStatus

SAME_SPEED = 0.97
"""Of the old time: a new engine that is not slower and takes more than that is as fast."""


class Speed(enum.StrEnum):
    """Of fresh pairs, interleaved; `unknown`: not compared, or not decided."""

    SAME = "same"
    FASTER = "faster"
    SLOWER = "slower"
    UNKNOWN = "unknown"


def speed_of(word: VerdictStatus, ratio: float) -> Speed:
    """From a verdict and the new time over the old one."""
    if word is VerdictStatus.FAIL:
        return Speed.SLOWER
    if word is VerdictStatus.PASS:
        return Speed.FASTER if ratio < SAME_SPEED else Speed.SAME
    return Speed.UNKNOWN
