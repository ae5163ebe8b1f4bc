"""Growth with an interval, the knee of a sweep, stored samples, and when no more launches are needed."""

from __future__ import annotations

import math
import random

import pytest

from assay.core.speed import PairedRun, SpeedRule
from assay.stats.against_stored import decide_against_stored
from assay.stats.knee import knee
from assay.stats.sequential_test import is_decided, load_ratios
from assay.stats.slope import slope

RULE = SpeedRule()


def test_a_leak_is_told_with_an_interval_that_holds_it() -> None:
    chance = random.Random(1)
    calls = [40.0 * n for n in range(1, 26)]
    growth = slope(calls, [1e8 + 100.0 * at + chance.gauss(0, 500) for at in calls])
    assert growth is not None
    assert growth.low < 100.0 < growth.high
    assert growth.value == pytest.approx(100.0, rel=0.02)


def test_one_stair_at_the_start_is_no_growth() -> None:
    growth = slope(list(range(25)), [1e8] + [1.1e8] * 24)
    assert growth is not None
    assert (growth.value, growth.low) == (0.0, 0.0)


@pytest.mark.parametrize("points", [[1.0] * 7, [math.nan] * 9])
def test_too_few_points_or_none_tell_nothing(points: list[float]) -> None:
    assert slope(list(range(len(points))), points) is None
    assert slope([3.0] * 9, list(range(9))) is None


def test_the_knee_lies_where_a_call_costs_as_much_as_its_items() -> None:
    taken = {batch: 8e-3 + 1e-3 * batch for batch in (1, 2, 4, 8, 16, 32)}
    assert knee(taken) == 8


def test_no_knee_where_it_lies_beyond_or_cannot_be_seen() -> None:
    assert knee({1: 1e-3, 2: 1e-3, 4: 1e-3}) is None
    assert knee({1: 1e-3, 2: 2e-3}) is None


@pytest.mark.parametrize(("factor", "word"), [(1.0, "same"), (1.3, "slower"), (0.7, "faster"), (1.09, "inconclusive")])
def test_samples_of_another_day_give_a_coarse_answer(factor: float, word: str) -> None:
    chance = random.Random(2)
    now, then = ([scale * math.exp(chance.gauss(0, 0.02)) for _ in range(12)] for scale in (factor * 1e-3, 1e-3))
    assert decide_against_stored(now, then, RULE).word == word


def test_too_few_of_them_give_none() -> None:
    assert decide_against_stored([1e-3] * 3, [1e-3] * 12, RULE).word == "inconclusive"


def _launches(count: int, load: float) -> list[PairedRun]:
    """Whichever is loaded first takes more than twice as long."""
    return [PairedRun(cpu=0.0, wall=0.0, load=load + (0.8 if n % 2 else -0.8), quads=5) for n in range(count)]


def test_launches_go_on_while_loading_looks_slower_and_is_not_surely_so() -> None:
    assert is_decided(_launches(4, 0.0), RULE)
    assert not is_decided(_launches(4, math.log(2)), RULE)
    assert is_decided(_launches(8, math.log(2)), RULE)


def test_what_loading_first_costs_is_neither_engine_s() -> None:
    assert load_ratios(_launches(5, 0.5)) == pytest.approx([0.5, 0.5])


def test_a_launch_that_took_for_ever_or_no_time_is_no_sample() -> None:
    now, then = [1e-3, 1.01e-3, 1e-3, 0.99e-3, 1e-3], [1e-3] * 12
    assert decide_against_stored([*now, math.inf, 0.0], [*then, math.inf], RULE) == decide_against_stored(
        now, then, RULE
    )
