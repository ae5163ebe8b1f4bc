"""The one loop that watches workers: timers, memory, crashes, repeats. One job in flight per worker."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import replace

import msgspec

from assay.core.environment import Interpreter
from assay.core.job_base import Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.step import UNKNOWN
from assay.core.wire import Done, Hello
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch import failed_result
from assay.launch.changed_process import with_notes
from assay.launch.disk_watch import DiskWatch
from assay.launch.idle import IdleWorkers
from assay.launch.job_queue import JobQueue, Pending, WorkerKey, leaves_as_it_was
from assay.launch.lane import Lane
from assay.launch.leases import Leases
from assay.launch.prefork import Preforked
from assay.launch.staff import START_LIMIT_S, Event, Staff
from assay.launch.start_ahead import start_ahead
from assay.launch.tree_memory import MACHINE_BYTES
from assay.launch.watch import Watch, unwatched
from assay.ports import JobSource

WATCH_S = 0.02
"""Between two looks at resident memory."""
CLOSED_S = 1.0
"""For a process whose socket is closed to end: then its exit code is told."""
MOST_NOISE = 10_000
"""Messages that answer nothing, in one job: more is a flood."""


class Supervisor:
    """`workers` processes at most; each is replaced after `recycle` jobs and after any failure, and does jobs of one kind.

    `interpreter` gives the Python of an environment by name, "" being the driver's own.
    """

    def __init__(
        self,
        *,
        workers: int,
        recycle: int,
        interpreter: Callable[[str], Interpreter] = lambda environment: Interpreter(sys.executable),
        leases: Leases | None = None,
        preforked: Preforked | None = None,
        idle: IdleWorkers | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self._progress, self._done, self._total = watch, 0, 0
        self._recycle = recycle
        leases = leases or Leases((), exclusive=False)
        self._staff = Staff(workers, interpreter, leases, preforked or Preforked(), idle or IdleWorkers())
        self._waiting = JobQueue()
        self._finished: deque[Result] = deque()
        self._next_watch, self._disk = 0.0, DiskWatch()

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """One result each, in the order they end. Closing it leaves no process behind."""
        try:
            while self._take(source) or any(lane.pending for lane in self._staff.lanes):
                self._assign_all()
                if not self._waiting:
                    start_ahead(self._staff, source.expected())
                if not self._finished:
                    self._wait()
                while self._finished:
                    self._done += 1
                    yield self._finished.popleft()
            self._staff.keep_idle()
        finally:
            self._staff.end()

    def _take(self, source: JobSource) -> bool:
        """All that is ready, so that the jobs of one kind follow one another. Whether anything waits."""
        while (job := source.next_ready()) is not None:
            self._total += 1
            self._waiting.add(Pending(job))
        return bool(self._waiting) or bool(self._finished)

    def _assign_all(self) -> None:
        staff = self._staff
        for lane in [lane for lane in staff.lanes if not lane.is_busy]:
            if staff.at_work() < staff.workers:
                self._assign(lane)
        while self._waiting and staff.at_work() < staff.workers:
            short = [kind for kind in self._waiting.kinds() if staff.free(kind) < self._waiting.count(kind)]
            # A kind that nobody works on first; then the one with most to do.
            short.sort(key=lambda kind: (staff.at_work(kind) > 0, -self._waiting.count(kind)))
            if not any(self._start(kind) for kind in short):
                break

    def _start(self, kind: WorkerKey) -> bool:
        """False where it must wait. Jobs of an environment that cannot be had have their answer at once."""
        try:
            # A suspect goes to a process that owes nothing to another.
            lane = self._staff.start(kind, alone=self._waiting.suspects(kind))
        except EnvironmentFailed as error:
            self._drop(kind, str(error))
            return False
        if lane is not None and lane.ready:
            self._assign(lane)
        return lane is not None

    def _assign(self, lane: Lane) -> None:
        if lane.waited and not lane.process.is_silent():
            self._staff.retire(lane)  # it died, or said something unasked
            return
        pending = self._waiting.take(lane.kind, fresh=lane.fresh)
        lane.waited = pending is None
        if pending is not None:
            self._give(lane, pending)
        elif self._waiting.suspects(lane.kind):
            self._staff.retire(lane)  # they need a fresh process of this kind

    def _give(self, lane: Lane, pending: Pending) -> None:
        lane.pending, lane.fresh = pending, False
        lane.keep = lane.keep and (not lane.kind.apart or leaves_as_it_was(pending.job))
        lane.stage, lane.step, lane.peak_bytes, lane.jobs_before = Stage.START, UNKNOWN, 0, lane.process.jobs_done
        lane.allow(pending.job.limits.timeout_s)
        self._progress(pending.job, Stage.START, self._done, self._total, UNKNOWN)
        try:
            lane.process.send(pending.job)
        except OSError:
            self._takes_nothing(lane)

    def _wait(self) -> None:
        for key, _ in self._staff.select(WATCH_S):
            lane, event = key.data
            if lane in self._staff.lanes:  # not ended by what came before
                self._hear(lane) if event is Event.HEARD else self._died(lane)
        now = time.monotonic()
        if now >= self._next_watch:
            self._next_watch = now + WATCH_S
            for lane in list(self._staff.lanes):
                self._watch(lane, now)
            for lane, ended in self._disk.filling(self._staff.lanes):
                self._settle(lane, ended, keep=False)
            self._staff.settle()

    def _hear(self, lane: Lane) -> None:
        try:
            answers = lane.process.receive()
        except msgspec.MsgspecError as error:
            self._unreadable(lane, str(error))
            return
        if answers is None:
            self._closed(lane)
        elif lane.process.answered_late and self._hand_back(lane):
            return
        elif lane.process.noise > MOST_NOISE and lane.pending:
            self._unreadable(lane, f"{lane.process.noise} messages that answer nothing")
        for answer in answers or ():
            if lane not in self._staff.lanes:
                return
            match answer:
                case Hello() if not lane.ready:
                    self._staff.started(lane)
                case Hello():
                    self._unreadable(lane, "it greets again")
                case Done(result, changed) if lane.pending and result.job_key == lane.pending.job.key:
                    lane.process.jobs_done += 1
                    noise, used = lane.process.noise, lane.process.jobs_done >= self._recycle
                    keep = not (failed_result.is_suspect(result) or changed or noise or used)
                    self._settle(lane, with_notes(result, changed, noise), keep=keep)
                case Done():
                    self._unreadable(lane, "it answers another job")

    def _unreadable(self, lane: Lane, problem: str) -> None:
        """What it says next would be taken for the answer to another job: it is not listened to any more."""
        if lane.pending:
            self._look(lane, lane.pending.job)
            self._settle(lane, failed_result.protocol_error(lane.pending.job, lane.stage, problem), keep=False)
        else:
            self._not_started(lane)

    def _closed(self, lane: Lane) -> None:
        """Nobody has the other end of its socket any more. Its process has a moment to end, so that its exit code is known."""
        self._staff.closed(lane)
        if lane.pending:
            self._look(lane, lane.pending.job)
        lane.limit.deadline = min(lane.limit.deadline, time.monotonic() + CLOSED_S) if lane.is_busy else 0.0
        if lane.process.exit_code() is not None or not lane.is_busy:
            self._lost(lane)

    def _takes_nothing(self, lane: Lane) -> None:
        """Its socket is closed at its end: it ends just now, and how is not known yet."""
        self._hear_rest(lane)
        if lane in self._staff.lanes and not lane.closed:
            self._closed(lane)

    def _died(self, lane: Lane) -> None:
        """Its process has ended, whoever holds its socket."""
        self._hear_rest(lane)
        if lane in self._staff.lanes:
            self._lost(lane)

    def _hear_rest(self, lane: Lane) -> None:
        """What it said before its end counts."""
        while not lane.closed and lane in self._staff.lanes and not lane.process.is_empty():
            self._hear(lane)

    def _look(self, lane: Lane, job: Job) -> None:
        if lane.advance(job.limits):
            self._progress(job, lane.stage, self._done, self._total, lane.step)

    def _watch(self, lane: Lane, now: float) -> None:
        lane.process.cut_log()
        if lane.closed:
            if now >= lane.limit.deadline or lane.process.exit_code() is not None:
                self._lost(lane)
            return
        if lane.pending is None:
            if not lane.ready and lane.starts_no_more(now):
                self._lost(lane)
            return
        job = lane.pending.job
        self._look(lane, job)
        try:
            lane.process.flush()
        except OSError:
            self._takes_nothing(lane)
            return
        limit = job.limits.memory_bytes
        resident = lane.process.tree_bytes(limit) if limit else lane.process.resident_bytes()
        lane.peak_bytes = max(lane.peak_bytes, resident)
        if limit and resident > limit:
            self._settle(lane, failed_result.out_of_memory(job, lane.stage, resident), keep=False)
        elif lane.limit.is_over(now):
            if not self._hand_back(lane):
                late = failed_result.timed_out(job, lane.stage, lane.limit, stopped=lane.pending.stopped)
                self._settle(lane, late, keep=False)
        elif not lane.pending.stopped and lane.process.is_stopped():
            # Whoever has stopped it is not known: another process has its turn, and what stops that one, too, is the job's.
            self._repeat(lane, replace(lane.pending, stopped=True))

    def _lost(self, lane: Lane) -> None:
        """The process is gone, or has closed its socket."""
        if lane.pending is None:
            self._not_started(lane)
            return
        self._look(lane, lane.pending.job)
        if lane.stage is Stage.START and self._hand_back(lane):
            return
        code, full = lane.process.exit_code(), lane.peak_bytes > MACHINE_BYTES // 2
        result = failed_result.crashed(lane.pending.job, lane.stage, code, nearly_full=full)
        if result.outcome is Outcome.CRASH and lane.pending.crashed is None and not lane.says_it_all(result):
            crashed = msgspec.structs.replace(result, log=lane.process.log())
            self._repeat(lane, replace(lane.pending, crashed=crashed))
            return
        self._settle(lane, result, keep=False)

    def _repeat(self, lane: Lane, pending: Pending) -> None:
        self._waiting.suspect(pending)
        self._leave(lane, pending, done=0, keep=False)

    def _hand_back(self, lane: Lane) -> bool:
        """Whether the process died, stopped or went on with an earlier job, before it began this one: then this job is innocent."""
        begun = lane.stage is not Stage.START and not lane.process.answered_late
        if lane.pending is None or begun or not lane.process.jobs_done or lane.pending.sent_again:
            return False
        self._waiting.add(replace(lane.pending, sent_again=True), first=True)
        self._leave(lane, lane.pending, done=0, keep=False)
        return True

    def _not_started(self, lane: Lane) -> None:
        last, environment = self._staff.failed_start(lane), lane.kind.environment
        if last is None:
            return
        if not environment:
            text = f"died, or took more than {START_LIMIT_S:g} s of a core of their own to start, before they could take a job"
            raise WorkerFailed(f"three workers in a row {text}; the last one said: {last or 'nothing'}")
        text = f"no worker starts in the environment {environment!r} (assay env build {environment}): {last or 'it said nothing'}"
        for kind in self._waiting.kinds():
            if kind.environment == environment:
                self._drop(kind, text)

    def _drop(self, kind: WorkerKey, reason: str) -> None:
        self._finished.extend(failed_result.no_environment(pending.job, reason) for pending in self._waiting.drop(kind))

    def _settle(self, lane: Lane, result: Result, *, keep: bool) -> None:
        pending = lane.pending
        assert pending is not None
        self._finished.append(failed_result.completed(result, pending, lane.process.log(), lane.jobs_before))
        self._leave(lane, pending, done=1, keep=keep and pending.crashed is None)

    def _leave(self, lane: Lane, pending: Pending, *, done: int, keep: bool) -> None:
        self._progress(pending.job, None, self._done + done, self._total, UNKNOWN)
        lane.pending = None
        if not keep:
            self._staff.retire(lane)
