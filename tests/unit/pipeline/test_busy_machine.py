"""A time limit that was reached on a busy machine: the job is asked once more, alone; on an idle one it is believed."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from msgspec.structs import replace

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import Job, NoopJob
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.pipeline.busy_machine import load_when_busy
from assay.pipeline.job_graph import JobGraph
from assay.ports import JobSource

BUSY = "40.1 processes for 2 cores"


class _Launcher:
    """Every job ends with the same outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.seen = outcome, list[str]()

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            self.seen.append(job.case.name)
            yield replace(empty_result(job, self.outcome), detail="over 2 s")


def _results(workers: _Launcher, alone: _Launcher, load: str) -> list[Result]:
    graph = JobGraph(workers, alone, lambda: load)
    jobs: list[Job] = [NoopJob(Case(name, Model(name, "", "")), Flow("noop", "noop")) for name in "ab"]

    async def route() -> list[Result]:
        return [one async for one in graph.results(jobs)]

    return graph.complete(route())


def test_on_a_busy_machine_it_is_run_again_alone_and_the_result_says_so() -> None:
    workers, alone = _Launcher(Outcome.TIMEOUT), _Launcher(Outcome.OK)
    first, second = _results(workers, alone, BUSY)
    assert (workers.seen, alone.seen) == (["a", "b"], ["a", "b"])
    assert {first.outcome, second.outcome} == {Outcome.OK}
    assert first.attempts == 2
    assert f"time limit while the machine had {BUSY}" in first.warnings[0]


def test_what_hangs_alone_too_is_a_timeout_and_is_not_asked_a_third_time() -> None:
    workers, alone = _Launcher(Outcome.TIMEOUT), _Launcher(Outcome.TIMEOUT)
    first, _ = _results(workers, alone, BUSY)
    assert alone.seen == ["a", "b"]
    assert first.outcome is Outcome.TIMEOUT
    assert first.detail.startswith("over 2 s; it was run twice, the second time alone")


@pytest.mark.parametrize(("outcome", "load"), [(Outcome.TIMEOUT, ""), (Outcome.CRASH, BUSY), (Outcome.OK, BUSY)])
def test_an_idle_machine_and_other_outcomes_are_believed(outcome: Outcome, load: str) -> None:
    workers, alone = _Launcher(outcome), _Launcher(Outcome.OK)
    assert {one.outcome for one in _results(workers, alone, load)} == {outcome}
    assert alone.seen == []


def test_busy_is_more_than_two_processes_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(os, "getloadavg", lambda: (4.0, 0.0, 0.0))
    assert load_when_busy() == ""
    monkeypatch.setattr(os, "getloadavg", lambda: (4.1, 0.0, 0.0))
    assert load_when_busy() == "4.1 processes for 2 cores"
