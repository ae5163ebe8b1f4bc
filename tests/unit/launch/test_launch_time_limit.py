"""When a time limit is over: the clock counts, less the time in which others had the cores."""

from __future__ import annotations

import itertools
import os
import re
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from assay.core.environment import Interpreter
from assay.core.outcome import Cause, Stage
from assay.launch import failed_result, lane, staff
from assay.launch.core_wait import LONGEST, CoreWait, Look, waited_s
from assay.launch.idle import IdleWorkers
from assay.launch.job_queue import WorkerKey
from assay.launch.leases import Leases
from assay.launch.prefork import Preforked
from assay.launch.time_limit import TimeLimit
from assay.testing.builders import make_job

SECOND_NS = 10**9


@pytest.mark.parametrize(
    ("used_s", "delays_s", "waited"),
    [
        pytest.param(0.0, {1: 0.0}, 0.0, id="it sleeps"),
        pytest.param(10.0, {1: 0.0}, 0.0, id="it computes, and nobody else does"),
        pytest.param(2.5, {1: 7.5}, 7.5, id="others have three quarters of its core"),
        pytest.param(20.0, {1: 7.5, 2: 7.5}, 0.0, id="its own threads have both cores"),
        pytest.param(10.0, {1: 7.5, 2: 7.5}, 5.0, id="its own threads have one core, others the other one"),
        pytest.param(2.0, {1: 3.0, 2: 4.0, 3: 4.0}, 4.0, id="threads that wait at once wait once"),
        pytest.param(0.0, {7: 6.0}, 6.0, id="a thread that has begun since"),
        pytest.param(0.0, {3: 1.0}, 1.0, id="another thread has the number of one that ended"),
    ],
)
def test_a_thread_waits_while_others_have_the_cores(used_s: float, delays_s: dict[int, float], waited: float) -> None:
    before = Look(100.0, 5.0, {1: 0, 2: 0, 3: 9 * SECOND_NS if delays_s == {3: 1.0} else 0})
    after = Look(110.0, 5.0 + used_s, {thread: int(delay * SECOND_NS) for thread, delay in delays_s.items()})
    assert waited_s(before, after, cores=2) == pytest.approx(waited)


@pytest.mark.parametrize(("then", "waited"), [({7, 8}, 7.5), ({7}, 0.0), ({7, 8, 9}, 0.0), ({7, 9}, 0.0)])
def test_nothing_is_granted_for_time_that_may_have_been_hidden(then: set[int], waited: float) -> None:
    """A process whose time is lost when it ends may have had the core itself."""
    before = Look(100.0, 5.0, {7: 0}, frozenset({7, 8}))
    assert waited_s(before, Look(110.0, 5.0, {7: 7_500_000_000}, frozenset(then)), cores=2) == pytest.approx(waited)


@pytest.mark.heavy
@pytest.mark.parametrize(("used_s", "grows"), [(1000.0, False), (0.001, True), (None, False)])
def test_a_group_counts_for_those_that_have_ended(used_s: float | None, grows: bool) -> None:
    """This process and another share one core. What the group says decides; where it says nothing, what comes and goes does."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    asked = itertools.count()
    wait = CoreWait(os.getpid(), lambda: None if used_s is None else used_s * next(asked))
    try:
        for now_s in (0.0, 0.4, 0.8):
            with subprocess.Popen([sys.executable, "-SEc", "import time; time.sleep(0.3)"]):
                wait.look(now_s)
                end = time.monotonic() + 0.4
                while time.monotonic() < end:
                    pass
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, cores)
    assert (wait.seconds > 0.05) is grows


class _Waits:
    """For such a share of the time."""

    def __init__(self, share: float) -> None:
        self.seconds, self._share, self._last = 0.0, share, 0.0

    def look(self, now_s: float) -> None:
        self.seconds += self._share * (now_s - self._last)
        self._last = now_s


def _ends_at(limit: TimeLimit) -> float:
    return next(0.02 * tick for tick in range(100_000) if limit.is_over(0.02 * tick))


@pytest.mark.parametrize(("share", "ends"), [(0.0, 10.0), (0.01, 10.0), (0.5, 20.0), (0.9, LONGEST * 10.0)])
def test_the_time_of_others_does_not_count(share: float, ends: float) -> None:
    limit = TimeLimit(10.0, 0.0, _Waits(share))
    assert _ends_at(limit) == pytest.approx(ends, abs=0.7)
    assert _ends_at(TimeLimit(10.0, 0.0)) == pytest.approx(10.0, abs=0.03)


def test_on_a_slower_machine_a_limit_is_longer_and_is_measured_only_when_it_is_reached() -> None:
    asked: list[float] = []
    limit = TimeLimit(10.0, 0.0, times_slower=lambda: asked.append(1.5) or 1.5)
    assert not limit.is_over(9.9)
    assert asked == []
    assert not limit.is_over(10.0)
    assert not limit.is_over(14.9)
    assert limit.is_over(15.0)
    assert (asked, limit.limit_s) == ([1.5], 15.0)
    waiting = TimeLimit(10.0, 0.0, _Waits(0.5), lambda: 1.5)
    assert _ends_at(waiting) == pytest.approx(30.0, abs=0.7)


@pytest.mark.parametrize(
    ("share", "slower", "text", "cause"),
    [
        (0.0, 1.0, "no answer within 300 s while in stage run", Cause.TIMEOUT),
        (0.01, 1.0, "no answer within 300 s while in stage run", Cause.TIMEOUT),
        (
            0.0,
            1.5,
            "no answer within 450 s while in stage run "
            "(300 s, on a machine that is 1.5 times slower than the one that limits are meant for)",
            Cause.TIMEOUT,
        ),
        (
            0.5,
            1.0,
            "no answer within 300 s while in stage run (and N s in which it waited for a core: the machine is busy)",
            Cause.TIMEOUT,
        ),
        (
            0.9,
            1.0,
            "no answer within 300 s while in stage run (and N s in which it waited for a core: the machine is busy)",
            Cause.BUSY_MACHINE,
        ),
    ],
)
def test_a_timeout_says_what_put_it_off_and_whether_it_had_its_time(
    share: float, slower: float, text: str, cause: Cause
) -> None:
    limit = TimeLimit(300.0, 0.0, _Waits(share), lambda: slower)
    assert next(second for second in range(10_000) if limit.is_over(second))
    late = failed_result.timed_out(make_job(), Stage.RUN, limit)
    assert (re.sub(r"and [0-9.]+ s", "and N s", late.detail), late.cause) == (text, cause)


def test_the_start_of_a_worker_is_put_off_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all cores were taken for minutes, no worker was there in time, and the whole run was lost."""
    ours, theirs = socket.socketpair()
    made = SimpleNamespace(pid=os.getpid(), jobs_done=0, forked=False, death=-1, socket=ours)
    monkeypatch.setattr(staff, "WorkerProcess", lambda *_: made)
    monkeypatch.setattr(lane, "CoreWait", lambda _: SimpleNamespace(seconds=1e6, look=lambda _: None))
    with ours, theirs:
        workers = staff.Staff(
            1, lambda _: Interpreter(sys.executable), Leases((), exclusive=False), Preforked(), IdleWorkers()
        )
        started = workers.start(WorkerKey("", "faulty", (), "cpu"), alone=True)
        workers.selector.close()
    assert started is not None
    now = time.monotonic()
    assert not started.limit.is_over(now + 2 * staff.START_LIMIT_S)
    assert started.limit.is_over(now + LONGEST * staff.START_LIMIT_S)
