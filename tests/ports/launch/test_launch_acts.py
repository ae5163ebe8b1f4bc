"""Misbehaving backends between innocent jobs: each is reported as what it is, its neighbours are right, and nothing is left."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.launch import process_tree
from assay.launch.pool import Pool
from assay.launch.process import WorkerProcess
from assay.ports import JobList
from assay.testing.act_checks import (
    STAGES,
    ActJob,
    act_job,
    act_jobs,
    identity_golden,
    launch_as,
    launched,
    problems_of,
)
from assay.testing.acts import ACTS

NASTY = (
    "fork_that_works_on", "fork_that_writes_garbage", "fork_that_reads", "daemon", "daemon_and_exit", "child_holds_socket_and_exit",
    "garbage", "forged_length", "answer_for_another", "closes_all_and_lives", "closes_all", "shuts_sockets_down", "stops_itself",
    "floods_log", "kills_itself", "str_fails", "unencodable", "keyboard_interrupt", "system_exit", "descriptors_exhausted_quietly",
    "chdir", "streams_closed", "clock_patched",
)  # fmt: skip
"""One or two of each mechanism: all of them take minutes (`benchmarks/acts.py`)."""


def _launched(asked: list[ActJob], kind: str) -> dict[str, str]:
    problems, left = launched(asked, partial(launch_as, kind, 2))
    return problems | dict.fromkeys(left, "left behind")


@pytest.fixture
def same(tmp_path: Path) -> tuple[Model, Path]:
    """A model that gives back what it is given, and its golden."""
    return identity_golden(tmp_path)


@pytest.mark.parametrize(("kind", "first"), [("pool", 0), ("forked", 1)])
def test_nasty_ones_among_innocent_ones(same: tuple[Model, Path], kind: str, first: int) -> None:
    """Of two neighbours in the list, one in each kind of process; all in both in the slow test below."""
    model, golden = same
    chance = random.Random(kind)
    plan = [(act, chance.choice(STAGES[1:])) for act in NASTY[first::2]]
    assert _launched(act_jobs(plan, model, golden, seed=chance.randrange(100), innocent=1), kind) == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["pool", "fresh", "forked"])
def test_all_of_them_in_any_stage_and_order(same: tuple[Model, Path], kind: str, seed: int) -> None:
    model, golden = same
    plan = [(act, random.Random(f"{seed} {act}").choice(STAGES)) for act in ACTS]
    assert _launched(act_jobs(plan, model, golden, seed=seed), kind) == {}


def test_a_timer_holds_while_another_worker_has_closed_its_connection_and_lives(same: tuple[Model, Path]) -> None:
    """The supervisor waited ten seconds for a process that had closed its socket; meanwhile no other timer held."""
    model, golden = same
    asked = [act_job("hang", model, golden, "hangs_deaf"), act_job("closes", model, golden, "closes_all_and_lives")]
    ended: dict[str, float] = {}
    started: dict[str, float] = {}

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        (ended if stage is None else started)[job.case.name] = time.monotonic()

    results = list(Pool(2, watch=watch).launch(JobList([act.job for act in asked])))
    assert problems_of(asked, results) == {}
    assert ended["closes"] - started["closes"] < 9.0
    assert ended["hang"] - started["hang"] < asked[0].job.limits.timeout_s + 9.0


def test_a_worker_that_was_killed_from_outside_costs_no_result(same: tuple[Model, Path]) -> None:
    """Nobody knows who sends SIGKILL: the job is run again, and what it gives then counts."""
    model, golden = same
    asked = [act_job(f"innocent-{n}", model, golden) for n in range(2)]
    killed: list[psutil.Process] = []
    helpers = {child.pid for child in psutil.Process().children()}
    ends = 0

    def watch(job: Job, stage: Stage | None, *_: object) -> None:
        nonlocal ends
        ends += stage is None
        if not killed and stage is Stage.START:
            children = psutil.Process().children()
            below = [child for child in children if child.pid not in helpers and child.status() != psutil.STATUS_ZOMBIE]
            killed.extend(
                process for process in below if process_tree.MARK in process.environ()
            )  # and not a helper of this process
            killed[0].kill()

    results = list(Pool(1, watch=watch).launch(JobList([act.job for act in asked])))
    assert len(killed) == 1
    assert [result.outcome for result in results] == [Outcome.OK] * 2
    assert ends == len(asked) + 1, "a job that waits to be run again is not shown as if it ran"


def test_a_worker_that_just_ends_while_it_is_given_a_job_is_waited_for(
    same: tuple[Model, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its socket is closed before its exit code is known: who looked at once took a signal for a crash of the job's own."""
    model, golden = same
    send = WorkerProcess.send
    ends: list[threading.Timer] = []

    def late(process: WorkerProcess, job: Job) -> None:
        if ends:
            send(process, job)
            return
        ends.append(threading.Timer(0.2, os.kill, (process.pid, signal.SIGKILL)))
        ends[0].start()
        raise BrokenPipeError

    monkeypatch.setattr(WorkerProcess, "send", late)
    [result] = Pool(1).launch(JobList([act_job("innocent", model, golden).job]))
    assert (result.outcome, result.attempts) == (Outcome.OK, 2)
