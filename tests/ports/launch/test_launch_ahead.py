"""Workers started before the jobs are known: they are the ones that work, and none outlives its owner."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil

from assay.core.environment import Interpreter
from assay.core.result import Outcome
from assay.launch.ahead import Ahead, most_workers
from assay.launch.pool import Pool
from assay.models.onnx_file import open_model
from assay.testing.launcher_checks import faulty_job


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_those_started_ahead_do_the_work(linear: Path, golden: Path) -> None:
    model = open_model(linear)
    jobs = [faulty_job(f"{n}", "none", model=model, golden=golden) for n in range(6)]
    before = _children()
    with Ahead(2) as ahead:
        started = _children() - before
        results = Pool(2, ahead=ahead).launch(jobs)
        first = next(results)
        assert _children() - before == started
        assert {first.outcome, *(result.outcome for result in results)} == {Outcome.OK}
    assert len(started) == 2
    assert _children() == before


def test_a_crash_ahead_of_others_is_repeated_in_a_process_of_its_own(linear: Path, golden: Path) -> None:
    model = open_model(linear)
    jobs = [faulty_job("bad", "segfault", model=model, golden=golden)]
    jobs += [faulty_job(f"{n}", "none", model=model, golden=golden) for n in range(3)]
    with Ahead(1) as ahead:
        results = {result.case: result for result in Pool(1, ahead=ahead).launch(jobs)}
    assert (results["bad"].outcome, results["bad"].attempts) == (Outcome.CRASH, 2)
    assert all(results[f"{n}"].outcome is Outcome.OK for n in range(3))


def test_what_needs_another_process_does_not_take_these(linear: Path, golden: Path) -> None:
    before = _children()
    with Ahead(1) as ahead:
        started = _children() - before
        other = Interpreter(sys.executable, {"ASSAY_OTHER": "1"})
        (result,) = Pool(1, interpreter=lambda name: other, ahead=ahead).launch(
            [faulty_job("a", "none", model=open_model(linear), golden=golden)]
        )
        assert result.outcome is Outcome.OK
        assert _children() - before == started
    assert _children() == before


def test_one_per_core_unless_told() -> None:
    assert most_workers(3) == 3
    assert 1 <= most_workers(0) <= 8
