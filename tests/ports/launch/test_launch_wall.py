"""Random misbehaviour, killed drivers and stopped workers: no innocent job is blamed, and nothing is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil

from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.note import NoteCode
from assay.core.outcome import Outcome, Stage
from assay.launch import process_tree
from assay.launch.left_behind import remove_left
from assay.launch.pool import Pool
from assay.ports import JobList
from assay.testing.act_checks import act_job, identity_golden, interpreter_of, nothing_left, problems_of
from assay.testing.acts import ACTS
from assay.testing.launcher_checks import faulty_job
from assay.testing.random_acts import SLOW, random_acts

PATIENCE_S = 60.0


def test_random_misbehaviour_at_random_moments(tmp_path: Path) -> None:
    """A short piece of `benchmarks/random_acts.py`."""
    model, golden = identity_golden(tmp_path)
    quick = [name for name in ACTS if name not in SLOW]
    jobs = random_acts(60, 0.25, model, golden, seed=7, acts=quick)
    assert len({job.when for job in jobs}) == 3
    with nothing_left() as left:
        results = list(Pool(2, interpreter=interpreter_of).launch(JobList([job.job for job in jobs])))
    assert (problems_of(jobs, results), left) == ({}, [])


_DRIVER = """
import sys
from pathlib import Path
from assay.launch.pool import Pool
from assay.ports import JobList
from assay.testing.act_checks import act_job, identity_golden
model, golden = identity_golden(Path(sys.argv[1]))
jobs = [act_job(act, model, golden, act).job for act in ("temporary_files", "daemon", "hangs_deaf")]
import assay.launch.supervisor as supervisor
supervisor.Supervisor._settle = lambda *_, **__: None  # nothing is tidied up: as if it had not come to it
list(Pool(3).launch(JobList(jobs)))
"""


def test_what_a_killed_driver_has_left_goes_with_the_next(tmp_path: Path) -> None:
    """Its workers end with it; what these have started, and their folders, are found by the next driver."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    variables = {**os.environ, "TMPDIR": str(temporary)}
    driver = subprocess.Popen([sys.executable, "-c", _DRIVER, str(tmp_path)], env=variables)

    def descend() -> dict[int, tuple[int, str]]:
        """What the driver and its workers have started: the parent and the command by number. What ends meanwhile is none."""
        living = {}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if any(name.startswith(f"{driver.pid}-") for name in process_tree.drivers_of(process.pid)):
                    living[process.pid] = (process.ppid(), " ".join(process.cmdline()))
        return living

    def orphans() -> bool:
        return any(parent != driver.pid or "assay.worker" not in command for parent, command in descend().values())

    _wait_for(lambda: orphans() and any(temporary.glob("assay-worker-*/assay-act*")))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    _wait_for(lambda: driver.pid not in [parent for parent, _ in descend().values()])
    assert list(temporary.glob("assay-worker-*"))
    subprocess.run(
        [sys.executable, "-c", "from assay.launch.left_behind import remove_left; remove_left()"],
        env=variables,
        check=True,
    )
    _wait_for(lambda: not descend())
    assert list(temporary.glob("assay-worker-*")) == []


def test_what_belongs_to_another_machine_or_namespace_is_left_alone() -> None:
    number, begun, here = process_tree.own_name().split("-")
    assert not process_tree.is_gone(process_tree.own_name())
    assert process_tree.is_gone(f"{number}-{int(begun) - 1}-{here}")
    assert not process_tree.is_gone(f"{number}-{int(begun) - 1}-elsewhere")
    assert not process_tree.is_gone("x")


def test_what_a_living_driver_has_started_stays() -> None:
    with process_tree.starting() as known:
        child = subprocess.Popen(["sleep", "60"], env=process_tree.marked(dict(os.environ)))
        known(child.pid)
    try:
        remove_left()
        time.sleep(0.1)
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
        process_tree.ended(child.pid)


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_worker_that_was_stopped_from_outside_costs_no_result(tmp_path: Path) -> None:
    """Nobody knows who sends SIGSTOP: the job is run again at once, and what it gives then counts."""
    model, golden = identity_golden(tmp_path)
    asked = [act_job(f"innocent-{n}", model, golden) for n in range(2)]
    stopped: list[psutil.Process] = []
    before = process_tree.children(os.getpid())

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        if not stopped and stage is Stage.START:
            new = (child for child in psutil.Process().children() if child.pid not in before)
            stopped.extend(process for process in new if process_tree.drivers_of(process.pid))
            stopped[0].suspend()

    begin = time.monotonic()
    results = list(Pool(1, watch=watch).launch(JobList([act.job for act in asked])))
    assert [result.outcome for result in results] == [Outcome.OK] * 2
    assert sum(note.code == NoteCode.AGAIN_AFTER_STOP for result in results for note in result.notes) == 1
    assert time.monotonic() - begin < asked[0].job.limits.timeout_s


def test_time_in_which_driver_and_worker_stood_still_is_no_job_s(tmp_path: Path) -> None:
    """Ctrl-Z and `fg`, or a container that was paused: the limit of 4 s is over on the clock, and the job had a part of it."""
    model, golden = identity_golden(tmp_path)
    job = faulty_job("slow", "slow", model=model, golden=golden, options={"seconds": 0.3})
    job = msgspec.structs.replace(job, limits=Limits(timeout_s=4.0, repeat_share=0.0))
    others: list[subprocess.Popen[bytes]] = []

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        if stage is Stage.RUN and not others:
            workers = " ".join(str(child.pid) for child in psutil.Process().children())
            stop, go_on = f"kill -STOP {os.getpid()} {workers}", f"kill -CONT {workers} {os.getpid()}"
            # The driver goes on last: it takes a worker that still stands for one that somebody else stopped.
            others.append(subprocess.Popen(["sh", "-c", f"sleep 0.3; {stop}; sleep 6; {go_on}"]))

    (result,) = Pool(1, watch=watch).launch(JobList([job]))
    assert others[0].wait() == 0
    assert (result.outcome, result.attempts) == (Outcome.OK, 1), (
        result.outcome,
        result.stage,
        result.detail,
        result.seconds,
    )


def test_a_result_says_how_many_jobs_its_process_had_done(tmp_path: Path) -> None:
    model, golden = identity_golden(tmp_path)
    jobs = [act_job(f"innocent-{n}", model, golden).job for n in range(3)]
    assert [result.jobs_before for result in Pool(1).launch(JobList(jobs))] == [0, 1, 2]
    assert [result.jobs_before for result in Pool(1, recycle=1).launch(JobList(jobs))] == [0, 0, 0]
