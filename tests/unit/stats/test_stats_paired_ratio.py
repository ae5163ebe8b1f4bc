"""One number from turns: what falls on both sides of a pair falls out of it, and what is wild has no say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.paired_ratio import MANY, paired_ratio


def test_a_machine_that_changes_its_speed_falls_on_both() -> None:
    """The clock halves in the middle, at another pair each time: medians of each side would differ by half."""
    speed = np.where(np.arange(100) < 55, 1.0, 2.0)
    assert paired_ratio(list(1.02 * speed), list(speed)) == pytest.approx(math.log(1.02))


@pytest.mark.parametrize("count", [8, 32, 2 * MANY])
def test_some_wild_turns_do_not_move_it(count: int) -> None:
    rng = np.random.default_rng(count)
    mine, theirs = np.exp(0.001 * rng.standard_normal((2, count)))
    mine[: count // 8] *= 5.0
    theirs[-(count // 8) :] *= 3.0
    assert paired_ratio(list(1.03 * mine), list(theirs)) == pytest.approx(math.log(1.03), abs=0.002)


def test_few_restless_pairs_are_averaged_not_picked() -> None:
    """Sharper than their median by a fifth at least, as theory says (normal noise: by a quarter)."""
    rng = np.random.default_rng(3)
    drawn = np.exp(0.02 * rng.standard_normal((600, 2, 36)))
    ratios = [paired_ratio(list(mine), list(theirs)) for mine, theirs in drawn]
    medians = [float(np.median(np.log(mine / theirs))) for mine, theirs in drawn]
    assert np.std(np.array(ratios, float)) < 0.87 * np.std(medians)


def test_a_clock_that_stands_still_or_is_too_coarse_tells_nothing() -> None:
    assert paired_ratio([0.0] * 8, [0.0] * 8) is None
    assert paired_ratio([0.0, 0.016] * 4, [0.016, 0.016] * 4) is None
    assert paired_ratio([0.0, *[0.016] * 7], [0.016] * 8) == 0.0
