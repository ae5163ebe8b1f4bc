"""Alarms on a history, and where its level changed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.cusum import alarms
from assay.stats.step_changes import PENALTY, SEGMENT, _clipped, step_changes


def _history(seed: int, *levels: tuple[float, int]) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(level * math.exp(0.008 * rng.standard_normal())) for level, count in levels for _ in range(count)]


def test_a_quiet_history_is_quiet() -> None:
    assert sum(len(alarms(_history(seed, (2.0, 300)))) for seed in range(30)) <= 2


@pytest.mark.parametrize(("percent", "within"), [(3, 14), (5, 8), (20, 6)])
def test_a_step_up_is_seen_soon(percent: int, within: int) -> None:
    for seed in range(20):
        positions = alarms(_history(seed, (2.0, 80), (2.0 * (1 + percent / 100), 60)))
        assert positions, seed
        assert 80 <= positions[0] <= 80 + within


def test_a_step_down_is_no_alarm() -> None:
    assert not any(alarms(_history(seed, (2.0, 80), (1.8, 80))) for seed in range(10))


def test_a_slow_creep_is_seen_though_no_neighbour_differs() -> None:
    values = _history(1, (2.0, 140))
    crept = [value * 1.001 ** max(0, place - 60) for place, value in enumerate(values)]
    assert 60 < alarms(crept)[0] < 95


@pytest.mark.parametrize("later", [1, 4, 9])
def test_a_step_just_after_the_alarm_of_a_creep_is_not_taken_for_the_level_as_it_was(later: int) -> None:
    for seed in range(20):
        values = [value * 1.001 ** max(0, place - 60) for place, value in enumerate(_history(seed, (2.0, 200)))]
        place = alarms(values)[0] + later
        stepped = [*values[:place], *(1.05 * value for value in values[place:])]
        assert [alarm for alarm in alarms(stepped) if place <= alarm <= place + 10], seed


def test_a_step_after_an_alarm_does_not_hide_behind_wild_runs() -> None:
    """What is about to be told from the usual may not widen the scale that tells it."""
    unseen = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        values = [value * 1.001 ** max(0, place - 60) for place, value in enumerate(_history(seed, (2.0, 200)))]
        values = [value * 1.25 if rng.random() < 0.1 else value for value in values]
        raised = [alarm for alarm in alarms(values) if alarm > 60]
        place = raised[0] + int(rng.integers(1, 25))
        stepped = [*values[:place], *(1.05 * value for value in values[place:])]
        unseen += not [alarm for alarm in alarms(stepped) if place <= alarm <= place + 20]
    assert unseen == 0


def test_one_wild_run_is_no_alarm() -> None:
    values = _history(2, (2.0, 120))
    values[50] *= 10
    assert alarms(values) == []


def test_values_that_are_none_are_left_out() -> None:
    values = _history(3, (2.0, 60), (2.4, 30))
    with_holes = [*values[:20], math.nan, 0.0, -1.0, math.inf, *values[20:]]
    assert [place - 4 for place in alarms(with_holes)] == alarms(values)


def test_steps_are_located() -> None:
    changes = step_changes(_history(4, (2.0, 80), (2.06, 60), (2.5, 60)))
    assert [change.place for change in changes] == [80, 140]
    assert [round(change.percent) for change in changes] == [3, 21]


@pytest.mark.parametrize("values", [[], [1.0] * 7, [1.0, math.nan] * 10, [0.0] * 20])
def test_no_steps_where_none_can_be_told(values: list[float]) -> None:
    assert step_changes(values) == []


@pytest.mark.parametrize("place", [0, 49])
def test_one_wild_run_at_either_end_is_no_new_level(place: int) -> None:
    values = _history(5, (2.0, 50))
    values[place] *= 1.3
    assert step_changes(values) == []


def test_changes_are_those_that_the_method_finds_in_its_plain_form() -> None:
    import ruptures

    for seed in range(3):
        values = _history(seed, (2.0, 50), (2.08, 50), (1.9, 30))
        logs = _clipped(np.log(np.asarray(values)))
        variance = max(float(np.median(np.abs(np.diff(logs)))) * 1.4826 / math.sqrt(2.0), 1e-4) ** 2
        plain = ruptures.Pelt(model="l2", min_size=SEGMENT, jump=1).fit(logs).predict(pen=PENALTY * variance)
        assert [change.place for change in step_changes(values)] == plain[:-1]
        assert len(plain) == 3
