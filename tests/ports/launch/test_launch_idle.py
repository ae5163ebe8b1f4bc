"""Workers that wait between two launches of one run: used again where that is safe, and none outlives the run."""

from __future__ import annotations

import contextlib
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

import assay
from assay import plugins
from assay.core.case import Case, Inputs
from assay.core.data import Data
from assay.core.error_case import ErrorCase
from assay.core.job import MeasureJob, VerifyJob, other_kind
from assay.core.job_base import Job, JobKind
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.launch import staff
from assay.launch.idle import IdleWorkers
from assay.launch.job_queue import WorkerKey, leaves_as_it_was
from assay.launch.lane import Lane
from assay.launch.pool import FreshProcess, Pool
from assay.launch.process import WorkerProcess
from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.launcher_checks import check_blame, faulty_job
from screening import screening_job


@dataclass
class _Started:
    """Worker processes that were started in this test."""

    processes: list[psutil.Process] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.processes)

    @property
    def living(self) -> int:
        return sum(map(_lives, self.processes))


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Started]:
    seen, plain = _Started(), staff.WorkerProcess

    def noted(*arguments: object) -> object:
        before = set(psutil.Process().children())
        made = plain(*arguments)  # type: ignore[arg-type]
        seen.processes += set(psutil.Process().children()) - before
        return made

    monkeypatch.setattr(staff, "WorkerProcess", noted)
    yield seen
    assert not seen.living


@pytest.fixture
def job(linear: Path, golden: Path):
    model = open_model(linear)

    def make(fault: str = "none", **options: str) -> Job:
        made = faulty_job(fault, fault, model=model, golden=golden, options=dict(options))
        return msgspec.structs.replace(made, limits=Limits())

    return make


def test_a_worker_waits_for_the_next_launch_and_ends_with_the_run(started: _Started, job) -> None:
    with Pool(2) as pool:
        for _ in range(3):
            check_blame([job()], list(pool.launch(JobList([job()]))))
        assert (len(started), started.living) == (1, 1)
    assert started.living == 0
    list(pool.launch(JobList([job()])))
    assert (len(started), started.living) == (2, 0)


def test_one_process_looks_evaluates_and_derives(started: _Started, linear: Path, monkeypatch) -> None:
    monkeypatch.chdir(linear.parent)
    checked = assay.check("linear.onnx", flows=["reference", "onnxruntime"], measure=False)
    assert {result.outcome for result in checked.results} == {Outcome.OK}
    assert len(started) == 2, "one in numpy, for the flow reference too, and one of onnxruntime"


def test_a_check_is_two_launches_and_a_process_for_each_library_and_for_each_measurement(
    started: _Started, linear: Path, monkeypatch
) -> None:
    launches: list[str] = []

    def noted(launcher: type, plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, source: launches.append(launcher.__name__) or plain(self, source)

    for launcher in (Pool, FreshProcess):
        monkeypatch.setattr(launcher, "launch", noted(launcher, launcher.launch))
    monkeypatch.chdir(linear.parent)
    checked = assay.check("linear.onnx", flows=["onnxruntime", "openvino-f32"])
    assert {result.outcome for result in checked.results} == {Outcome.OK}
    assert launches == ["Pool", "FreshProcess"]
    assert len(started) == 5, "in numpy, two that verify, two that measure"


def test_a_run_that_is_interrupted_leaves_none(started: _Started, job) -> None:
    def interrupted() -> None:
        with Pool(1) as pool:
            list(pool.launch(JobList([job()])))
            assert started.living == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert started.living == 0


def test_a_launch_that_is_closed_early_keeps_none(started: _Started, job) -> None:
    with Pool(1) as pool:
        results = pool.launch(JobList([job(), msgspec.structs.replace(job(), case=Case("second", job().case.model))]))
        next(results)
        results.close()
        assert started.living == 0


def test_measuring_has_no_idle_worker_beside_it(started: _Started, job) -> None:
    with Pool(1) as pool:
        list(pool.launch(JobList([job()])))
        (result,) = FreshProcess(clear=pool.end_idle).launch(JobList([job()]))
        assert result.outcome is Outcome.OK
        assert (len(started), started.living) == (2, 0)


def test_a_worker_that_died_idle_costs_no_job(started: _Started, job) -> None:
    with Pool(1) as pool:
        list(pool.launch(JobList([job()])))
        started.processes[0].kill()
        started.processes[0].wait()
        (result,) = pool.launch(JobList([job()]))
    assert (result.outcome, result.attempts, len(started)) == (Outcome.OK, 1, 2)


def test_a_crash_in_one_that_waited_is_repeated_in_a_fresh_one(started: _Started, job, tmp_path: Path) -> None:
    with Pool(1) as pool:
        first = pool.launch(JobList([job()]))
        next(first)
        assert len([*pool.launch(JobList([job()])), *first]) == 1
        assert (len(started), started.living) == (2, 2)
        (result,) = pool.launch(JobList([job("segfault", once_file=str(tmp_path / "seen"))]))
        assert (len(started), started.living) == (3, 1)
    assert (result.outcome, result.attempts, result.only_after_other_jobs) == (Outcome.CRASH, 2, True)


def test_a_worker_that_said_something_unasked_is_not_used() -> None:
    process, kind = WorkerProcess(), WorkerKey("", "faulty", (), "cpu")
    process.jobs_done = 1  # so that its hello, unread, is unasked
    assert select.select([process.socket], [], [], 120)[0]
    idle = IdleWorkers(1)
    assert idle.keep(Lane(process, kind, "python", {}))
    assert idle.take(kind, "python", {}) is None
    assert process.exit_code() is not None


@pytest.mark.parametrize("fault", ["raise", "memory_error", "exit"])
def test_after_a_failure_none_waits(started: _Started, job, fault: str) -> None:
    with Pool(1) as pool:
        check_blame([job(fault)], list(pool.launch(JobList([job(fault)]))))
        assert started.living == 0


def test_jobs_with_a_limit_of_memory_begin_in_processes_of_their_own(started: _Started, job) -> None:
    limited = msgspec.structs.replace(job(), limits=Limits(memory_bytes=2_000_000_000))
    with Pool(1) as pool:
        list(pool.launch(JobList([job()])))
        list(pool.launch(JobList([limited])))
        assert (len(started), started.living) == (2, 1)


def test_one_that_has_grown_large_ends_with_its_launch(started: _Started, job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.launch.idle.LARGEST_BYTES", 0)
    with Pool(1) as pool:
        list(pool.launch(JobList([job()])))
        assert (len(started), started.living) == (1, 0)


def test_one_that_screens_waits_for_the_next_cases_however_large(
    started: _Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.launch.idle.LARGEST_BYTES", 0)
    asked = msgspec.structs.replace(screening_job(tmp_path), count=1)
    with Pool(1) as pool:
        for _ in range(2):
            list(pool.launch(JobList([asked])))
        assert (len(started), started.living) == (1, 1)


def test_those_that_screen_hold_no_more_together_than_they_may() -> None:
    kind = WorkerKey("", "faulty", (), "cpu", JobKind.SCREEN)
    first, second, third = (WorkerProcess() for _ in range(3))
    for worker in (first, second, third):
        assert select.select([worker.socket], [], [], 120)[0]
    with IdleWorkers(8, most_bytes=int(2.5 * first.resident_bytes())) as idle:
        assert all(idle.keep(Lane(worker, kind, "python", {})) for worker in (first, second, third))
        assert [worker.exit_code() is None for worker in (first, second, third)] == [False, True, True]
    alone = WorkerProcess()
    assert select.select([alone.socket], [], [], 120)[0]
    assert not IdleWorkers(8, most_bytes=alone.resident_bytes() // 2).keep(Lane(alone, kind, "python", {}))
    alone.end()


def test_another_environment_or_other_variables_are_another_process(
    started: _Started, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pool(1) as pool:
        list(pool.launch(JobList([job()])))
        monkeypatch.setenv("ASSAY_OTHER", "1")
        list(pool.launch(JobList([job()])))
        assert len(started) == 2


def test_no_more_wait_than_two_phases_need(started: _Started, job) -> None:
    reference = plugins.find_flow("reference")
    others = [msgspec.structs.replace(job(), flow=flow) for flow in (reference, plugins.find_flow("onnxruntime"))]
    with Pool(1) as pool:
        for each_job in (job(), *others):
            list(pool.launch(JobList([each_job])))
        assert (len(started), started.living) == (3, 2)


def test_what_runs_code_of_others_or_turns_the_process_upside_down_ends_its_worker() -> None:
    plain = VerifyJob(Case("m", Model("m", "m.onnx", "")), plugins.find_flow("onnxruntime"))
    assert leaves_as_it_was(plain)
    assert not leaves_as_it_was(other_kind(plain, MeasureJob))
    for change in (
        {"model": Model("m", "m.pt2", "")},
        {"model": Model("m", "m.onnx", "", format="torch")},
        {"inputs": Inputs(data=Data("own.py:make"))},
        {"misuse": ErrorCase("disk")},
    ):
        case = msgspec.structs.replace(plain.case, **change)
        assert not leaves_as_it_was(msgspec.structs.replace(plain, case=case)), change


def test_one_in_numpy_that_was_started_before_is_used_first(started: _Started, job) -> None:
    before = set(psutil.Process().children())
    reference = msgspec.structs.replace(job(), flow=plugins.find_flow("reference"))
    with IdleWorkers() as idle:
        idle.start_numpy()
        (early,) = set(psutil.Process().children()) - before
        with Pool(1, idle=idle) as pool:
            for _ in range(2):
                (result,) = pool.launch(JobList([reference]))
                assert result.outcome is Outcome.OK
            assert len(started) == 0
            assert _lives(early)
        assert not _lives(early)


def test_one_that_was_started_for_nothing_ends_with_the_command() -> None:
    before = set(psutil.Process().children())
    with IdleWorkers() as idle:
        idle.start_numpy()
        assert len(set(psutil.Process().children()) - before) == 1
    assert set(psutil.Process().children()) <= before


def test_one_that_was_started_before_and_died_costs_no_job(started: _Started, job) -> None:
    before = set(psutil.Process().children())
    reference = msgspec.structs.replace(job(), flow=plugins.find_flow("reference"))
    with IdleWorkers() as idle:
        idle.start_numpy()
        (early,) = set(psutil.Process().children()) - before
        early.kill()
        with Pool(1, idle=idle) as pool:
            (result,) = pool.launch(JobList([reference]))
    assert (result.outcome, result.attempts, len(started)) == (Outcome.OK, 1, 1)
