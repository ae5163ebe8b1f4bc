"""Which samples of a set calibrate a quantizing transform: the others are left to judge it by."""

from __future__ import annotations

import numpy as np

from assay.core.note import noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.errors import UsageError

SHARE = 4
"""One sample in four of a golden set is kept for calibration, unless the case says how many."""
MOST = 128


def samples_taken(count: int, most: int, whose: str) -> int:
    """How many of `count` samples calibration takes: `most` (0: a quarter, 128 at most). Raises UsageError where none would be
    left; `whose` names the set."""
    taken = most or min(MOST, max(1, count // SHARE))
    if taken < count:
        return taken
    raise UsageError(noted(GoldenCode.NONE_LEFT_TO_JUDGE, source=whose, samples=count, taken=taken, wanted=most))


def kept_for_calibration(count: int, most: int, seed: int, whose: str) -> tuple[int, ...]:
    """Indices of the samples that calibration takes, drawn with `seed`, in ascending order. Raises UsageError where none would be
    left to judge."""
    drawn = np.random.Generator(np.random.PCG64(seed)).permutation(count)[: samples_taken(count, most, whose)]
    return tuple(sorted(int(index) for index in drawn))
