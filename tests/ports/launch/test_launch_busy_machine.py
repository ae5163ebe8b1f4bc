"""Time limits where other programs have the cores."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.core.case import Case
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.launch.pool import Pool
from assay.ports import JobList
from assay.testing.act_checks import identity_golden

LIMIT_S = 1.0


@pytest.fixture
def shared_core() -> Iterator[None]:
    """One core for this process and all that it starts, and three programs on it that never sleep."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(3)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, before)


def _run(folder: Path, **options: Option) -> tuple[Result, float]:
    """Of four calls, and how many seconds they took."""
    ran: list[float] = []

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        del job
        if stage in (Stage.RUN, None):
            ran.append(time.monotonic())

    model, golden = identity_golden(folder)
    flow = Flow("faulty", "faulty", {"model": "identity", **options})
    limits = Limits(timeout_s=LIMIT_S, import_s=60.0, repeat_share=0.0)
    job = VerifyJob(Case("x", model), flow, limits=limits, reference_dir=str(golden))
    (result,) = Pool(1, watch=watch).launch(JobList([job]))
    return result, ran[-1] - ran[0]


@pytest.mark.slow  # it wants a machine on which nothing else runs at all
@pytest.mark.alone
@pytest.mark.usefixtures("shared_core")
def test_the_time_in_which_others_have_the_core_does_not_count(tmp_path: Path) -> None:
    """Four tenths of a second of work take four times as long."""
    result, seconds = _run(tmp_path, work_s=0.1)
    assert (result.outcome, result.detail) == (Outcome.OK, "")
    assert seconds > 1.1 * LIMIT_S


@pytest.mark.slow  # it wants a machine on which nothing else runs at all
@pytest.mark.alone
@pytest.mark.usefixtures("shared_core")
def test_who_sleeps_has_no_more_time_for_it(tmp_path: Path) -> None:
    """What it waited for the core before it slept may put its limit off: the clock of the sleep itself does not."""
    result, seconds = _run(tmp_path, wait_s=1000.0)
    assert (result.outcome, result.attempts) == (Outcome.TIMEOUT, 1)
    assert seconds < LIMIT_S + 0.3
