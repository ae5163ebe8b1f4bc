"""What the death of a process says about its job."""

from __future__ import annotations

import pytest

from assay.core.job_base import JobKind
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.launch import failed_result
from assay.testing.builders import make_job, make_result


@pytest.mark.parametrize(
    ("code", "full", "outcome", "cause", "signal"),
    [
        (-11, False, Outcome.CRASH, Cause.SIGNAL, "SIGSEGV"),
        (-6, False, Outcome.CRASH, Cause.SIGNAL, "SIGABRT"),
        (-9, False, Outcome.CRASH, Cause.SIGNAL, "SIGKILL"),
        (-9, True, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, "SIGKILL"),
        (-77, False, Outcome.CRASH, Cause.SIGNAL, "signal 77"),
        (3, False, Outcome.CRASH, Cause.OTHER, ""),
        (0, False, Outcome.CRASH, Cause.OTHER, ""),
        (None, False, Outcome.CRASH, Cause.OTHER, ""),
    ],
)
def test_died(code: int | None, full: bool, outcome: Outcome, cause: Cause, signal: str) -> None:
    result = failed_result.crashed(make_job(), Stage.LOWER, code, nearly_full=full)
    assert (result.outcome, result.cause, result.signal, result.stage) == (outcome, cause, signal, Stage.LOWER)
    assert "lower" in result.detail
    assert result.job_key == make_job().key


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_job_of_every_kind_fails_with_a_result_of_its_own_kind(kind: JobKind) -> None:
    job = make_job(kind=kind)
    results = (
        failed_result.crashed(job, Stage.LOWER, -11, nearly_full=False),
        failed_result.timed_out(job, Stage.RUN),
        failed_result.out_of_memory(job, Stage.RUN, 10**9),
        failed_result.no_environment(job, "it is not there"),
        failed_result.protocol_error(job, Stage.START, "no msgpack"),
    )
    assert [(result.kind, result.job_key) for result in results] == [(kind, job.key)] * len(results)


def test_a_crash_stays_a_crash_whatever_its_repeat_gives() -> None:
    first = failed_result.crashed(make_job(), Stage.RUN, -11, nearly_full=False)
    fine = make_result(outcome=Outcome.OK)
    result = failed_result.after_retry(first, fine)
    assert (result.outcome, result.attempts, result.only_after_other_jobs) == (Outcome.CRASH, 2, True)
    same = failed_result.after_retry(first, first)
    assert (same.outcome, same.attempts, same.only_after_other_jobs) == (Outcome.CRASH, 2, False)


def test_a_signal_that_anybody_may_have_sent_is_blamed_where_the_repeat_ends_by_it_too() -> None:
    first = failed_result.crashed(make_job(), Stage.RUN, -9, nearly_full=False)
    result = failed_result.after_retry(first, make_result(outcome=Outcome.OK))
    assert (result.outcome, result.attempts, result.only_after_other_jobs) == (Outcome.OK, 2, False)
    assert result.notes[-1] == noted(NoteCode.AGAIN_AFTER_SIGNAL, signal="SIGKILL", stage="run")
    same = failed_result.after_retry(first, first)
    assert (same.outcome, same.attempts) == (Outcome.CRASH, 2)
    assert "is not known" in same.detail
