"""Which samples of a set calibrate a quantizing transform: the others are left to judge it by."""

from __future__ import annotations

import numpy as np

from assay.errors import UsageError

SHARE = 4
"""One sample in four of a golden set is kept for calibration, unless the case says how many."""
MOST = 128


def samples_taken(count: int, wanted: int, whose: str) -> int:
    """How many of `count` samples calibration takes: `wanted` (0: a quarter, 128 at most). Raises UsageError where none would be
    left; `whose` names the set."""
    taken = wanted or min(MOST, max(1, count // SHARE))
    if taken < count:
        return taken
    samples = f"{count} sample{'' if count == 1 else 's'}"
    fewer = ", or ask for fewer with --calibration" if wanted > 1 else ""
    raise UsageError(
        f"{whose} has {samples}, calibration takes {taken} and leaves none to judge: give more with --inputs or --golden (a batch is "
        f"one: put an axis in front, or a file of its own for each){fewer}"
    )


def kept_for_calibration(count: int, wanted: int, seed: int, whose: str) -> tuple[int, ...]:
    """Indices of the samples that calibration takes, drawn with `seed`, in ascending order. Raises UsageError where none would be
    left to judge."""
    drawn = np.random.Generator(np.random.PCG64(seed)).permutation(count)[: samples_taken(count, wanted, whose)]
    return tuple(sorted(int(index) for index in drawn))
