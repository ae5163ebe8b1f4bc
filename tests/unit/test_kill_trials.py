"""benchmarks/kill_trials.py: moments before the first result are before it, and what does not end is counted."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest


class _Chance(random.Random):
    """One moment."""

    def __init__(self, moment: float) -> None:
        super().__init__()
        self.moment = moment

    def uniform(self, a: float, b: float) -> float:
        assert a <= self.moment <= b
        return self.moment


@pytest.fixture
def kill_trials(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "benchmarks"), *sys.path])
    import kill_trials

    return kill_trials


def _trials(module: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, moment: float, code: str) -> Any:
    """Of a program in the place of a run; it has no history."""
    trials = module.Trials(folder, _Chance(moment), ("run",))
    monkeypatch.setattr(trials, "_words", lambda *_, history: [sys.executable, "-c", code, history])
    return trials


def test_what_never_has_a_result_is_out_of_time_and_counted(
    kill_trials: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kill_trials, "MOST_S", 0.3)
    trials = _trials(kill_trials, tmp_path, monkeypatch, 0.5, "import time; time.sleep(6)")
    trials.whole = {"job": "passed"}
    began = time.perf_counter()
    assert trials.harm("history", kill_trials.kill_driver) != 0
    assert time.perf_counter() - began < 5
    assert (trials.hit, trials.endless) == (0, 1)
    assert trials.end_kind("driver") == 1


def test_moments_before_the_first_result_are_a_share_of_the_start(
    kill_trials: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on long after its first result."""
    code = (
        "import pathlib, sqlite3, sys, time\n"
        "time.sleep(0.3)\n"
        "pathlib.Path(sys.argv[1]).mkdir(exist_ok=True)\n"
        "with sqlite3.connect(pathlib.Path(sys.argv[1], 'history.db')) as file:\n"
        "    file.execute('CREATE TABLE IF NOT EXISTS results (job TEXT)')\n"
        "    file.execute('INSERT INTO results VALUES (1)')\n"
        "file.close()\n"
        "time.sleep(2)\n"
    )
    trials = _trials(kill_trials, tmp_path, monkeypatch, -0.001, code)
    monkeypatch.setattr(trials, "outcomes", lambda _: ({}, {}))
    trials.measure()
    assert 0.3 < trials.start_s < trials.whole_s - 1.5
    slept: list[float] = []
    monkeypatch.setattr(kill_trials.time, "sleep", slept.append)
    trials.harm("harmed", kill_trials.kill_driver)
    assert slept[0] == pytest.approx(trials.start_s, rel=0.01)
    assert (trials.hit, trials.endless) == (1, 0)
