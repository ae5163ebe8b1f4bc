"""The one loop that watches workers: timers, memory, crashes, repeats. One job in flight per worker."""

from __future__ import annotations

import errno
import os
import selectors
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping

import msgspec

from assay.core.environment import Interpreter
from assay.core.job import Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.core.step import UNKNOWN, Step
from assay.core.wire import Done, Hello
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch import failed_result
from assay.launch.changed_process import with_notes
from assay.launch.fork_server import ForkServer
from assay.launch.idle import LARGEST_BYTES, IdleWorkers
from assay.launch.job_queue import JobQueue, Pending, WorkerKey, environ_of, leaves_as_it_was
from assay.launch.lane import Lane
from assay.launch.leases import VARIABLE, Leases
from assay.launch.prefork import Preforked
from assay.launch.process import WorkerProcess
from assay.ports import JobSource

PARKED = 2
"""Processes for each that may work at once: what evaluates in numpy is asked again after the engines, and need not start again."""
START_LIMIT_S = 120.0
"""For a worker to say hello; a busy machine imports slowly."""
WATCH_S = 0.02
"""Between two looks at resident memory."""
FAILED_STARTS = 3
"""Of workers of one environment in a row: then it is not tried again."""
CLOSED_S = 1.0
"""For a process whose socket is closed to end: then its exit code is told."""
MOST_NOISE = 10_000
"""Messages that answer nothing, in one job: more is a flood."""
NONE_LEFT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
REFUSED_STARTS = 200
"""In a row, by a system that has no process to give: then it will have none."""
Watch = Callable[[Job, Stage | None, int, int, Step], None]
"""(job, stage, done, total, step): called where a worker comes to a stage of a job (None: its end), of so many that are launched
together, and where it has come further in it."""

_MEMORY_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def unwatched(job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
    """Nobody looks."""
    del job, stage, done, total, step


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
        ahead: Preforked | None = None,
        idle: IdleWorkers | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self._workers = workers
        self._told, self._done, self._total = watch, 0, 0
        self._recycle = recycle
        self._interpreter = interpreter
        self._leases = leases or Leases((), exclusive=False)
        self._ahead = ahead or Preforked()
        self._idle = idle or IdleWorkers()
        self._selector = selectors.DefaultSelector()
        self._lanes: list[Lane] = []
        self._ending: list[Lane] = []
        self._waiting = JobQueue()
        self._finished: deque[Result] = deque()
        self._failed_starts: dict[str, int] = {}
        self._next_watch = 0.0
        self._refused = 0

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """One result each, in the order they end. Closing it leaves no process behind."""
        try:
            while self._take(source) or any(lane.pending for lane in self._lanes):
                self._staff()
                if not self._finished:
                    self._wait()
                while self._finished:
                    self._done += 1
                    yield self._finished.popleft()
            for lane in [one for one in self._lanes if one.process.jobs_done and self._idle.keep(one)]:
                self._let_go(lane)
        finally:
            for lane in list(self._lanes):
                self._retire(lane)
            for lane in self._ending:
                lane.process.end()

    def _take(self, source: JobSource) -> bool:
        """All that is ready, so that the jobs of one kind follow one another. Whether anything waits."""
        while (job := source.next_ready()) is not None:
            self._total += 1
            self._waiting.add(Pending(job))
        return bool(self._waiting) or bool(self._finished)

    def _staff(self) -> None:
        for lane in [one for one in self._lanes if not one.is_busy]:
            if self._at_work() < self._workers:
                self._assign(lane)
        while self._waiting and self._at_work() < self._workers:
            short = [kind for kind in self._waiting.kinds() if self._free(kind) < self._waiting.count(kind)]
            # A kind that nobody works on first; then the one with most to do.
            short.sort(key=lambda kind: (self._at_work(kind) > 0, -self._waiting.count(kind)))
            if not any(self._start(kind) for kind in short):
                break

    def _free(self, kind: WorkerKey) -> int:
        return sum(lane.pending is None for lane in self._lanes if lane.kind == kind)

    def _at_work(self, kind: WorkerKey | None = None) -> int:
        """Processes that have a job, or start for one."""
        return sum(lane.is_busy for lane in self._lanes if kind is None or kind == lane.kind)

    def _start(self, kind: WorkerKey) -> bool:
        """False where it must wait for a GPU. Jobs of an environment that cannot be had have their answer at once."""
        try:
            interpreter = self._interpreter(kind.environment)
        except EnvironmentFailed as error:
            self._finished.extend(failed_result.no_environment(one.job, str(error)) for one in self._waiting.drop(kind))
            return False
        gpu = self._leases.take(kind.device) if self._leases.wants(kind.device) else ""
        if gpu is None:
            return False
        variables = interpreter.environ(environ_of(kind, os.environ))
        if gpu:
            variables[VARIABLE] = gpu
        program = interpreter.program
        self._make_room()
        # A suspect goes to a process that owes nothing to another.
        alone = self._waiting.suspects(kind)
        idle = None if alone else self._idle.take(kind, program, variables)
        server = None if alone or idle else self._ahead.server(program, variables, kind.backend)
        process = idle or self._new_process(program, variables, server)
        if process is None:
            if gpu:
                self._leases.give_back(gpu)
            return False
        used = bool(process.jobs_done)
        lane = Lane(process, kind, program, variables, gpu, ready=used, fresh=not (used or process.forked))
        lane.deadline = time.monotonic() + START_LIMIT_S
        self._lanes.append(lane)
        self._selector.register(lane.process.socket, selectors.EVENT_READ, (lane, self._hear))
        self._watch_death(lane)
        if lane.ready:
            self._assign(lane)
        return True

    def _new_process(
        self, program: str, variables: Mapping[str, str], server: ForkServer | None
    ) -> WorkerProcess | None:
        """None where the system has no process to give now: it is tried again. Raises WorkerFailed."""
        try:
            process = WorkerProcess(program, variables, server)
        except WorkerFailed as error:
            short = isinstance(error.__cause__, OSError) and error.__cause__.errno in NONE_LEFT
            self._refused += 1
            if not short or self._refused > REFUSED_STARTS:
                raise
            time.sleep(0.0 if self._lanes else WATCH_S)
            return None
        self._refused = 0
        return process

    def _watch_death(self, lane: Lane) -> None:
        """Whoever holds its socket: that it has ended is seen. A forked one has a number when it has said hello."""
        if lane.process.death >= 0 and not lane.watched:
            lane.watched = True
            self._selector.register(lane.process.death, selectors.EVENT_READ, (lane, self._died))

    def _make_room(self) -> None:
        """Before another process starts: those that wait for a job end where they are large, or too many."""
        parked = [lane for lane in self._lanes if not lane.is_busy]
        many = len(self._lanes) - (PARKED * self._workers - 1)
        for place, lane in enumerate(parked):
            if place < many or lane.gpu or lane.process.resident_bytes() > LARGEST_BYTES:
                self._retire(lane)

    def _assign(self, lane: Lane) -> None:
        if lane.waited and not lane.process.is_silent():
            self._retire(lane)  # it died, or said something unasked
            return
        pending = self._waiting.take(lane.kind, fresh=lane.fresh)
        lane.waited = pending is None
        if pending is not None:
            self._give(lane, pending)
        elif self._waiting.suspects(lane.kind):
            self._retire(lane)  # they need a fresh process of this kind

    def _give(self, lane: Lane, pending: Pending) -> None:
        lane.pending, lane.fresh = pending, False
        lane.keep = lane.keep and leaves_as_it_was(pending.job)
        lane.stage, lane.step, lane.peak_bytes = Stage.START, UNKNOWN, 0
        lane.deadline = time.monotonic() + pending.job.limits.timeout_s
        self._told(pending.job, Stage.START, self._done, self._total, UNKNOWN)
        try:
            lane.process.send(pending.job)
        except OSError:
            self._lost(lane)

    def _wait(self) -> None:
        now = time.monotonic()
        limited = any(lane.pending and lane.pending.job.limits.memory_bytes for lane in self._lanes)
        nearest = min((lane.deadline for lane in self._lanes if lane.pending or not lane.ready), default=now + 1)
        timeout = min(nearest - now, WATCH_S if limited else 0.5)
        if self._ending:
            timeout = min(timeout, WATCH_S)
        for key, _ in self._selector.select(max(timeout, 0)):
            lane, act = key.data
            if lane in self._lanes:  # not ended by what came before
                act(lane)
        now = time.monotonic()
        if now >= self._next_watch:
            self._next_watch = now + WATCH_S
            for lane in list(self._lanes):
                self._watch(lane, now)
            self._ending = [lane for lane in self._ending if not self._has_ended(lane)]

    def _hear(self, lane: Lane) -> None:
        try:
            answers = lane.process.receive()
        except msgspec.MsgspecError as error:
            if lane.pending:
                self._look(lane, lane.pending.job)
                self._settle(lane, failed_result.protocol_error(lane.pending.job, lane.stage, str(error)), keep=False)
            else:
                self._not_started(lane)
            return
        if answers is None:
            self._closed(lane)
            return
        if lane.process.noise > MOST_NOISE and lane.pending:
            problem = f"{lane.process.noise} messages that answer nothing"
            self._look(lane, lane.pending.job)
            self._settle(lane, failed_result.protocol_error(lane.pending.job, lane.stage, problem), keep=False)
            return
        for answer in answers:
            match answer:
                case Hello():
                    lane.ready = True
                    self._watch_death(lane)
                    self._failed_starts.pop(lane.kind.environment, None)
                case Done(result, changed) if lane.pending and result.job_key == lane.pending.job.key:
                    lane.process.jobs_done += 1
                    noise = lane.process.noise
                    sound = not (failed_result.is_suspect(result) or changed or noise)
                    keep = sound and lane.process.jobs_done < self._recycle
                    self._settle(lane, with_notes(result, changed, noise), keep=keep)
                case Done() if lane.pending:
                    text = "it answers another job"
                    self._settle(lane, failed_result.protocol_error(lane.pending.job, lane.stage, text), keep=False)
                    return
                case Done():
                    self._retire(lane)  # what it says next would be taken for the answer to another job
                    return

    def _closed(self, lane: Lane) -> None:
        """Nobody has the other end of its socket any more. Its process may be about to end, or live on: it has a moment to end, so that
        its exit code is known."""
        self._selector.unregister(lane.process.socket)
        lane.closed = True
        if lane.pending:
            self._look(lane, lane.pending.job)
        lane.deadline = min(lane.deadline, time.monotonic() + CLOSED_S) if lane.is_busy else 0.0
        if lane.process.exit_code() is not None or not lane.is_busy:
            self._lost(lane)

    def _died(self, lane: Lane) -> None:
        """Its process has ended, whoever holds its socket. What it said before counts."""
        while not lane.closed and lane in self._lanes and not lane.process.is_empty():
            self._hear(lane)
        if lane in self._lanes:
            self._lost(lane)

    def _look(self, lane: Lane, job: Job) -> None:
        if lane.advance(job.limits):
            self._told(job, lane.stage, self._done, self._total, lane.step)

    def _watch(self, lane: Lane, now: float) -> None:
        lane.process.cut_log()
        if lane.closed:
            if now >= lane.deadline or lane.process.exit_code() is not None:
                self._lost(lane)
            return
        if lane.pending is None:
            if not lane.ready and now >= lane.deadline:
                self._lost(lane)
            return
        job = lane.pending.job
        self._look(lane, job)
        try:
            lane.process.flush()
        except OSError:
            self._lost(lane)
            return
        limit = job.limits.memory_bytes
        resident = lane.process.tree_bytes(limit) if limit else lane.process.resident_bytes()
        lane.peak_bytes = max(lane.peak_bytes, resident)
        if job.limits.memory_bytes and resident > job.limits.memory_bytes:
            self._settle(lane, failed_result.out_of_memory(job, lane.stage, resident), keep=False)
        elif now >= lane.deadline and not self._sent_again(lane):
            self._settle(lane, failed_result.timed_out(job, lane.stage), keep=False)

    def _lost(self, lane: Lane) -> None:
        """The process is gone, or has closed its socket."""
        if lane.pending is None:
            self._not_started(lane)
            return
        self._look(lane, lane.pending.job)
        if self._sent_again(lane):
            return
        job = lane.pending.job
        full = lane.peak_bytes > _MEMORY_BYTES // 2
        result = failed_result.crashed(job, lane.stage, lane.process.exit_code(), nearly_full=full)
        if result.outcome is Outcome.CRASH and lane.pending.crashed is None:
            log = lane.process.log()
            self._waiting.suspect(Pending(job, msgspec.structs.replace(result, log=log)))
            lane.pending = None
            self._retire(lane)
            return
        self._settle(lane, result, keep=False)

    def _sent_again(self, lane: Lane) -> bool:
        """Whether the process died or stopped of an earlier job, before it began this one: then this job is innocent."""
        if (
            lane.pending is None
            or lane.stage is not Stage.START
            or not lane.process.jobs_done
            or lane.pending.sent_again
        ):
            return False
        self._waiting.add(Pending(lane.pending.job, lane.pending.crashed, sent_again=True), first=True)
        lane.pending = None
        self._retire(lane)
        return True

    def _not_started(self, lane: Lane) -> None:
        log, was_ready = lane.process.log(), lane.ready
        self._retire(lane)
        if was_ready:
            return
        if lane.process.forked:
            self._ahead.give_up()
            return
        environment = lane.kind.environment
        self._failed_starts[environment] = self._failed_starts.get(environment, 0) + 1
        if self._failed_starts[environment] < FAILED_STARTS:
            return
        last = " ".join(log.split()[-60:])
        if not environment:
            raise WorkerFailed(f"three workers in a row died before they could take a job; the last one said: {last}")
        told = f"no worker starts in the environment {environment!r} (assay env build {environment}): {last}"
        for kind in self._waiting.kinds():
            if kind.environment == environment:
                self._finished.extend(failed_result.no_environment(one.job, told) for one in self._waiting.drop(kind))

    def _settle(self, lane: Lane, result: Result, *, keep: bool) -> None:
        assert lane.pending is not None
        log = lane.process.log()
        if log:
            result = msgspec.structs.replace(result, log=log)
        if lane.pending.crashed is not None:
            result = failed_result.after_retry(lane.pending.crashed, result)
            keep = False
        self._told(lane.pending.job, None, self._done + 1, self._total, UNKNOWN)
        lane.pending = None
        self._finished.append(result)
        if not keep:
            self._retire(lane)

    def _retire(self, lane: Lane) -> None:
        """It is killed, and not waited for."""
        self._let_go(lane)
        lane.process.kill()
        if not self._has_ended(lane):
            self._ending.append(lane)

    def _has_ended(self, lane: Lane) -> bool:
        if not lane.process.finish():
            return False
        if lane.gpu:
            self._leases.give_back(lane.gpu)
        return True

    def _let_go(self, lane: Lane) -> None:
        self._lanes.remove(lane)
        if not lane.closed:
            self._selector.unregister(lane.process.socket)
        if lane.watched:
            self._selector.unregister(lane.process.death)
