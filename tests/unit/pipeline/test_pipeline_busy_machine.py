"""A job that the clock ended while others had the cores: it is asked once more, alone; what had its time is believed."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from msgspec.structs import replace

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.note import NoteCode
from assay.core.outcome import Cause, Outcome
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.verdict import VerdictStatus
from assay.judge.outcome_rule import judge_outcome
from assay.pipeline.job_graph import JobGraph
from assay.ports import JobSource

LATE, BUSY, WELL = (
    (Outcome.TIMEOUT, Cause.TIMEOUT), (Outcome.TIMEOUT, Cause.BUSY_MACHINE), (Outcome.OK, Cause.NONE),
)  # fmt: skip


class _Launcher:
    """Every job ends the same way."""

    def __init__(self, ending: tuple[Outcome, Cause]) -> None:
        self.ending, self.seen = ending, list[str]()

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            self.seen.append(job.case.name)
            outcome, cause = self.ending
            yield replace(empty_result(job, outcome), cause=cause, detail="over 2 s")


def _jobs() -> list[Job]:
    return [VerifyJob(Case(name, Model(name, "", "")), Flow("noop", "noop")) for name in "ab"]


def _results(workers: _Launcher, alone: _Launcher) -> list[Result]:
    graph = JobGraph(workers, alone)

    async def route() -> list[Result]:
        return [result async for result in graph.results(_jobs())]

    return graph.complete(route())


def test_what_waited_for_a_core_is_run_again_alone_and_the_result_says_so() -> None:
    workers, alone = _Launcher(BUSY), _Launcher(WELL)
    first, second = _results(workers, alone)
    assert (workers.seen, alone.seen) == (["a", "b"], ["a", "b"])
    assert {first.outcome, second.outcome} == {Outcome.OK}
    assert first.attempts == 2
    assert [note.code for note in first.notes] == [NoteCode.AGAIN_AFTER_BUSY_MACHINE]


@pytest.mark.parametrize(("ending", "status"), [(BUSY, VerdictStatus.INCONCLUSIVE), (LATE, VerdictStatus.FAIL)])
def test_what_has_no_time_alone_either_is_undecided_and_what_had_it_is_a_timeout(
    ending: tuple[Outcome, Cause], status: VerdictStatus
) -> None:
    alone = _Launcher(ending)
    first, _ = _results(_Launcher(BUSY), alone)
    assert alone.seen == ["a", "b"]
    assert first.detail == "over 2 s; it was run twice, the second time when no other job of this run was under way"
    assert judge_outcome("a", first, Policy()).word is status


@pytest.mark.parametrize("ending", [LATE, WELL, (Outcome.CRASH, Cause.SIGNAL)])
def test_what_had_its_time_is_believed(ending: tuple[Outcome, Cause]) -> None:
    alone = _Launcher(WELL)
    assert {(result.outcome, result.cause) for result in _results(_Launcher(ending), alone)} == {ending}
    assert alone.seen == []
