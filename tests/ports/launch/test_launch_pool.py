"""The supervisor under its conformance check, and the promises that the check does not cover."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
import psutil
import pytest

from assay.core.case import Case, Inputs
from assay.core.job import (
    CompareSpeedJob,
    MeasureJob,
    PerNodeJob,
    ReferenceJob,
    SearchInputsJob,
    other_kind,
)
from assay.core.limits import IMPORT_S, Limits
from assay.core.outcome import Outcome, Stage
from assay.core.speed import BaselineEngine
from assay.errors import WorkerFailed
from assay.launch import process
from assay.launch.pool import FreshProcess, Pool
from assay.launch.supervisor import Supervisor
from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.launcher_checks import check_blame, check_launcher, faulty_job


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Pool(2), id="pool"),
        # In CI: `test_what_kills_a_job_of_any_kind_is_a_result_of_that_kind`.
        pytest.param(lambda: FreshProcess(2), id="fresh", marks=pytest.mark.slow),
    ],
)
def test_every_death_is_blamed_on_its_job_and_stage(make, linear: Path, golden: Path) -> None:
    check_launcher(make, model=open_model(linear), golden=golden)


def test_the_check_itself_sees_wrong_blame(linear: Path, golden: Path) -> None:
    model = open_model(linear)
    jobs = [faulty_job("a", "none", model=model, golden=golden), faulty_job("b", "raise", model=model, golden=golden)]
    results = list(Pool(1).launch(JobList(jobs)))
    check_blame(jobs, results)
    with pytest.raises(AssertionError, match="lost"):
        check_blame(jobs, results[:1])
    with pytest.raises(AssertionError, match="doubled"):
        check_blame(jobs, [*results, results[0]])


def test_a_crash_that_a_fresh_process_does_not_repeat_is_told_apart(linear: Path, golden: Path, tmp_path: Path) -> None:
    model = open_model(linear)
    once = {"once_file": str(tmp_path / "seen")}
    jobs = [
        faulty_job("before", "none", model=model, golden=golden),
        faulty_job("shaky", "segfault", model=model, golden=golden, options=once),
    ]
    results = {result.case: result for result in Pool(1).launch(JobList(jobs))}
    assert results["before"].outcome is Outcome.OK
    shaky = results["shaky"]
    assert (shaky.outcome, shaky.stage, shaky.attempts, shaky.only_after_other_jobs) == (
        Outcome.CRASH,
        Stage.RUN,
        2,
        True,
    )


@pytest.mark.parametrize(
    ("fault", "outcome", "make"), [("segfault", Outcome.CRASH, FreshProcess), ("hang", Outcome.TIMEOUT, Pool)]
)
def test_what_kills_a_job_of_any_kind_is_a_result_of_that_kind(
    linear: Path, golden: Path, tmp_path: Path, fault: str, outcome: Outcome, make
) -> None:
    plain = faulty_job("m", fault, model=open_model(linear), golden=golden, stage=Stage.LOWER)
    plain = msgspec.structs.replace(plain, limits=Limits(timeout_s=2.0))
    own = BaselineEngine("old", plain.flow, plain.case.model)
    mutated = msgspec.structs.replace(plain.flow, transforms=("mutant:negate@y",))
    jobs = [
        plain,
        other_kind(plain, PerNodeJob),
        other_kind(plain, MeasureJob),
        other_kind(plain, CompareSpeedJob, baseline=own),
        other_kind(plain, SearchInputsJob, flow=mutated, output_dir=str(tmp_path / "found")),
        other_kind(plain, ReferenceJob, case=_fed_by(plain.case, golden), reference_dir=str(tmp_path / "answers")),
    ]
    results = {result.job_key: result for result in make(2).launch(JobList(jobs))}
    assert [(results[job.key].kind, results[job.key].outcome) for job in jobs] == [(job.kind, outcome) for job in jobs]


def _fed_by(case: Case, golden: Path) -> Case:
    return msgspec.structs.replace(case, inputs=Inputs(golden=str(golden)))


def test_native_output_is_kept_per_job_and_bounded(linear: Path, golden: Path) -> None:
    model = open_model(linear)
    jobs = [
        faulty_job("loud", "chatty", model=model, golden=golden),
        faulty_job("quiet", "none", model=model, golden=golden),
    ]
    results = {result.case: result for result in Pool(1).launch(JobList(jobs))}
    assert 1000 < len(results["loud"].log) < process.LOG_BYTES * 2
    assert "left out" in results["loud"].log
    assert results["quiet"].log == ""


def test_closing_early_leaves_no_process_behind(linear: Path, golden: Path) -> None:
    model = open_model(linear)
    jobs = [faulty_job(f"{n}", "none" if n == 0 else "hang", model=model, golden=golden) for n in range(4)]
    before = set(psutil.Process().children(recursive=True))
    results = Pool(2).launch(JobList(jobs))
    next(results)
    children = set(psutil.Process().children(recursive=True)) - before
    assert children
    results.close()
    assert not [child for child in children if _alive(child)]


def _alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def test_a_worker_that_cannot_start_ends_the_run(monkeypatch: pytest.MonkeyPatch, linear: Path, golden: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONHOME", str(linear.parent))
    job = faulty_job("a", "none", model=open_model(linear), golden=golden)
    with pytest.raises(WorkerFailed, match="three workers in a row"):
        list(Supervisor(workers=1, recycle=1).launch(JobList([job])))


def test_importing_the_backend_has_a_clock_of_its_own(
    monkeypatch: pytest.MonkeyPatch, linear: Path, golden: Path
) -> None:
    monkeypatch.setenv("ASSAY_FAULTY_IMPORT", "hang")
    job = faulty_job("slow import", "none", model=open_model(linear), golden=golden)
    job = msgspec.structs.replace(job, limits=Limits(timeout_s=60, import_s=1))
    (result,) = Pool(1).launch(JobList([job]))
    assert (result.outcome, result.stage) == (Outcome.TIMEOUT, Stage.IMPORT)
    assert "within 1 s" in result.detail


def test_a_raised_limit_of_time_counts_for_importing_too() -> None:
    assert Limits(timeout_s=3).importing_s == IMPORT_S
    assert Limits(timeout_s=900).importing_s == 900
    assert Limits(timeout_s=900, import_s=1).importing_s == 1
