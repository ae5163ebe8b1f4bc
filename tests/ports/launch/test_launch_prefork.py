"""Workers forked from a process that imports before the jobs are known: blamed like any other, and none outlives its owner."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from assay.core.environment import Interpreter
from assay.core.outcome import Outcome
from assay.launch import lane, staff
from assay.launch.pool import Pool
from assay.launch.prefork import Preforked, most_workers
from assay.models.onnx_file import open_model
from assay.ports import JobList
from assay.testing.launcher_checks import check_launcher, faulty_job
from assay.worker.process_ties import OUT_OF_MEMORY_SCORE

FLOWS = ("faulty",)


@pytest.fixture
def children() -> Iterator[set[int]]:
    """Those of this process when the test began; the same are there when it ends."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield before
    assert _soon(lambda: not _others(before)), _others(before)


def _soon(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold, however busy the machine is."""
    deadline = time.monotonic() + 300
    while not (there := holds()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return there


def _others(before: set[int]) -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)} - before


def test_those_forked_from_it_do_the_work(linear: Path, golden: Path, children: set[int]) -> None:
    model = open_model(linear)
    jobs = [faulty_job(f"{n}", "none", model=model, golden=golden) for n in range(6)]
    with Preforked(FLOWS) as preforked:
        (server,) = _others(children)
        results = Pool(2, preforked=preforked).launch(JobList(jobs))
        first = next(results)
        assert _soon(lambda: len(_others(children)) == 3), "the second may be forked late"
        workers = _others(children) - {server}
        assert {psutil.Process(worker).ppid() for worker in workers} == {server}
        assert _soon(lambda: all(os.getpgid(worker) == worker for worker in workers))
        scores = {Path(f"/proc/{process}/oom_score_adj").read_text().strip() for process in (server, *workers)}
        assert scores == {OUT_OF_MEMORY_SCORE}, (
            "where memory is short, a worker ends, and neither the driver nor another program"
        )
        assert {first.outcome, *(result.outcome for result in results)} == {Outcome.OK}


def test_modules_are_imported_before_a_worker_is_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "noted_import.py").write_text(
        "import os\nopen(os.environ['NOTED_IMPORT'], 'a').write(f'{os.getpid()} ')\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("NOTED_IMPORT", str(pids := tmp_path / "pids"))
    before = {child.pid for child in psutil.Process().children()}
    with Preforked(FLOWS, ("noted_import", "there_is_no_such_module")):
        assert _soon(lambda: pids.exists() and pids.read_text().endswith(" "))
        assert {int(pid) for pid in pids.read_text().split()} == _others(before)


def test_each_death_is_blamed_on_its_job(linear: Path, golden: Path, children: set[int]) -> None:
    with Preforked(FLOWS) as preforked:
        check_launcher(lambda: Pool(2, preforked=preforked), model=open_model(linear), golden=golden)


def test_a_worker_works_in_the_folder_where_its_driver_is_now(
    linear: Path, golden: Path, children: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = faulty_job("here", "none", model=open_model(linear), golden=Path(golden.name))
    with Preforked(FLOWS) as preforked:
        monkeypatch.chdir(golden.parent)
        (result,) = Pool(1, preforked=preforked).launch(JobList([job]))
    assert result.outcome is Outcome.OK, result.detail


def test_a_suspect_is_repeated_in_a_process_that_was_not_forked(
    linear: Path, golden: Path, children: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    plain = staff.WorkerProcess

    def noted(*arguments: object) -> object:
        made = plain(*arguments)  # type: ignore[arg-type]
        started.append(made.forked)
        return made

    monkeypatch.setattr(staff, "WorkerProcess", noted)
    jobs = [faulty_job("bad", "segfault", model=open_model(linear), golden=golden)]
    with Preforked(FLOWS) as preforked:
        (result,) = Pool(1, preforked=preforked).launch(JobList(jobs))
    assert (result.outcome, result.attempts) == (Outcome.CRASH, 2)
    assert started == [True, False]


def test_a_server_that_is_gone_costs_no_job(linear: Path, golden: Path, children: set[int]) -> None:
    model = open_model(linear)
    jobs = [faulty_job(f"{n}", "none", model=model, golden=golden) for n in range(6)]
    with Preforked(FLOWS) as preforked:
        (server,) = _others(children)
        psutil.Process(server).kill()
        assert {result.outcome for result in Pool(2, preforked=preforked).launch(JobList(jobs))} == {Outcome.OK}


@pytest.mark.parametrize("hangs", ["server", "worker"])
def test_one_that_hangs_costs_no_job_and_no_two_minutes(
    linear: Path, golden: Path, children: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: str
) -> None:
    """Whoever is to be forked, or forks, and does nothing is not waited for as one that imports is."""
    monkeypatch.setattr(lane, "STILL_S", 2.0)
    if hangs == "worker":
        (tmp_path / "sitecustomize.py").write_text(
            "import os, signal, sys\n"
            "if '--fork-server' in getattr(sys, 'orig_argv', ()):\n"
            "    os.register_at_fork(after_in_child=signal.pause)\n"
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    model = open_model(linear)
    jobs = [faulty_job(f"{n}", "none", model=model, golden=golden) for n in range(6)]
    with Preforked(FLOWS) as preforked:
        (server,) = _others(children)
        if hangs == "server":
            psutil.Process(server).suspend()
        began = time.monotonic()
        assert {result.outcome for result in Pool(2, preforked=preforked).launch(JobList(jobs))} == {Outcome.OK}
        assert time.monotonic() - began < staff.START_LIMIT_S


def test_a_server_with_threads_of_its_own_forks_nothing_and_costs_no_job(
    linear: Path, golden: Path, children: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, threading\n"
        "if '--fork-server' in getattr(sys, 'orig_argv', ()):\n"
        "    threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    jobs = [faulty_job(f"{n}", "none", model=open_model(linear), golden=golden) for n in range(3)]
    with Preforked(FLOWS) as preforked:
        (server,) = _others(children)
        results = Pool(2, preforked=preforked).launch(JobList(jobs))
        first = next(results)
        assert not psutil.Process(server).children()
        assert {first.outcome, *(result.outcome for result in results)} == {Outcome.OK}


@pytest.mark.parametrize("other", ["variables", "backend"])
def test_what_needs_another_process_is_not_forked_from_it(
    linear: Path, golden: Path, children: set[int], other: str
) -> None:
    interpreter = Interpreter(sys.executable, {"ASSAY_OTHER": "1"} if other == "variables" else {})
    with Preforked(FLOWS if other == "variables" else ("onnxruntime",)) as preforked:
        (server,) = _others(children)
        jobs = [faulty_job(f"{n}", "none", model=open_model(linear), golden=golden) for n in range(3)]
        results = Pool(1, interpreter=lambda name: interpreter, preforked=preforked).launch(JobList(jobs))
        assert next(results).outcome is Outcome.OK
        assert not psutil.Process(server).children()
        assert {result.outcome for result in results} == {Outcome.OK}


def test_a_forked_worker_waits_for_the_next_launch(linear: Path, golden: Path, children: set[int]) -> None:
    jobs = [faulty_job(f"{n}", "none", model=open_model(linear), golden=golden) for n in range(2)]
    with Preforked(FLOWS) as preforked, Pool(1, preforked=preforked) as pool:
        first = [result.outcome for result in pool.launch(JobList(jobs[:1]))]
        workers = _others(children)
        second = [result.outcome for result in pool.launch(JobList(jobs[1:]))]
        assert _others(children) == workers, "the second job had a process of its own"
    assert [*first, *second] == [Outcome.OK, Outcome.OK]


def test_flows_that_this_machine_does_not_know_cost_no_job(linear: Path, golden: Path, children: set[int]) -> None:
    job = faulty_job("here", "none", model=open_model(linear), golden=golden)
    with Preforked(("of-another-machine",)) as preforked:
        assert [result.outcome for result in Pool(1, preforked=preforked).launch(JobList([job]))] == [Outcome.OK]


def test_nothing_is_imported_ahead_for_flows_of_an_environment(children: set[int]) -> None:
    with Preforked(("faulty@other",)):
        assert not _others(children)


def test_one_per_core_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_workers(3) == 3
    assert 1 <= most_workers(0) <= 8
    monkeypatch.setattr("assay.launch.prefork.os.sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    assert most_workers(0) == 3, "cores that others have are not counted"
