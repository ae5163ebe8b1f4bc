"""The workers of one launch: how many there are and of which kinds, how they start, and how they end."""

from __future__ import annotations

import enum
import errno
import os
import selectors
import time
from collections.abc import Callable, Mapping

from assay.core.environment import Interpreter
from assay.errors import WorkerFailed
from assay.launch import process_tree
from assay.launch.forked_workers import ForkServer
from assay.launch.idle import LARGEST_BYTES, IdleWorkers
from assay.launch.job_queue import WorkerKey, environ_of
from assay.launch.lane import Lane
from assay.launch.leases import VARIABLE, Leases
from assay.launch.prefork import Preforked
from assay.launch.process import WorkerProcess
from assay.launch.temp_folder import wait_for_removals

PARKED = 2
"""Processes for each that may work at once: what evaluates in numpy is asked again after the engines, and need not start again."""
START_LIMIT_S = 120.0
"""For a worker to say hello; a busy machine imports slowly."""
FAILED_STARTS = 3
"""Of workers of one environment in a row: then it is not tried again."""
NONE_LEFT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
LONGEST_S = 0.5
"""Between two looks at what works."""
STOOD_STILL_S = 2.0
"""Beyond what it asked for: then this process was stopped itself (Ctrl-Z, a container that is paused)."""
REFUSED_STARTS = 200
"""In a row, by a system that has no process to give: then it will have none."""
PAUSE_S = 0.02
"""Before another start, where no worker is left that would end meanwhile."""


class Event(enum.Enum):
    """What the selector tells of a lane."""

    HEARD = enum.auto()
    DIED = enum.auto()


class Staff:
    """`workers` processes that work at once, at most. Each is a lane, and `selector` tells what happens on it."""

    def __init__(
        self,
        workers: int,
        interpreter: Callable[[str], Interpreter],
        leases: Leases,
        preforked: Preforked,
        idle: IdleWorkers,
    ) -> None:
        self.workers = workers
        self.lanes: list[Lane] = []
        self.selector = selectors.DefaultSelector()
        self.preforked = preforked
        self._interpreter, self._leases, self._idle = interpreter, leases, idle
        self._ending: list[Lane] = []
        self._failed_starts: dict[str, int] = {}
        self._refused = 0

    def free(self, kind: WorkerKey) -> int:
        """How many of that kind have no job."""
        return sum(lane.pending is None for lane in self.lanes if lane.kind == kind)

    def at_work(self, kind: WorkerKey | None = None) -> int:
        """Processes that have a job, or start for one."""
        return sum(lane.is_busy for lane in self.lanes if kind is None or kind == lane.kind)

    def start(self, kind: WorkerKey, *, alone: bool) -> Lane | None:
        """None where it must wait, for a GPU or for the system to have a process. `alone`: it owes nothing to another process. Raises
        EnvironmentFailed, WorkerFailed."""
        interpreter = self._interpreter(kind.environment)
        gpu = self._leases.take(kind.device) if self._leases.wants(kind.device) else ""
        if gpu is None:
            return None
        variables = interpreter.environ(environ_of(kind, os.environ))
        if gpu:
            variables[VARIABLE] = gpu
        program = interpreter.program
        self._make_room()
        idle = None if alone else self._idle.take(kind, program, variables)
        server = None if alone or idle else self.preforked.server(program, variables, kind.backend)
        process = idle or self._new_process(program, variables, server)
        if process is None:
            if gpu:
                self._leases.give_back(gpu)
            return None
        used = bool(process.jobs_done)
        lane = Lane(process, kind, program, variables, gpu, ready=used, fresh=not (used or process.forked))
        lane.allow(START_LIMIT_S)
        self.lanes.append(lane)
        self.selector.register(lane.process.socket, selectors.EVENT_READ, (lane, Event.HEARD))
        self.watch_death(lane)
        return lane

    def _new_process(
        self, program: str, variables: Mapping[str, str], server: ForkServer | None
    ) -> WorkerProcess | None:
        try:
            process = WorkerProcess(program, variables, server)
        except WorkerFailed as error:
            short = isinstance(error.__cause__, OSError) and error.__cause__.errno in NONE_LEFT
            self._refused += 1
            if not short or self._refused > REFUSED_STARTS:
                raise
            time.sleep(0.0 if self.lanes else PAUSE_S)
            return None
        self._refused = 0
        return process

    def watch_death(self, lane: Lane) -> None:
        """Whoever holds its socket: that it has ended is seen. A forked one has a number when it has said hello."""
        if lane.process.death >= 0 and not lane.watched:
            lane.watched = True
            self.selector.register(lane.process.death, selectors.EVENT_READ, (lane, Event.DIED))

    def _make_room(self) -> None:
        """Before another process starts: those that wait for a job end where they are large, or too many."""
        parked = [lane for lane in self.lanes if not lane.is_busy]
        many = len(self.lanes) - (PARKED * self.workers - 1)
        for place, lane in enumerate(parked):
            if place < many or lane.gpu or lane.process.resident_bytes() > LARGEST_BYTES:
                self.retire(lane)

    def started(self, lane: Lane) -> None:
        """It has said hello."""
        lane.ready = True
        self.watch_death(lane)
        self._failed_starts.pop(lane.kind.environment, None)

    def failed_start(self, lane: Lane) -> str | None:
        """It ended before it took a job. What it said last, where none of its environment starts any more; else None."""
        log = lane.process.log()
        self.retire(lane)
        if lane.ready:
            return None
        if lane.process.forked:
            self.preforked.give_up()
            return None
        environment = lane.kind.environment
        self._failed_starts[environment] = self._failed_starts.get(environment, 0) + 1
        return None if self._failed_starts[environment] < FAILED_STARTS else " ".join(log.split()[-60:])

    def closed(self, lane: Lane) -> None:
        """Nobody has the other end of its socket any more: it is not listened to."""
        self.selector.unregister(lane.process.socket)
        lane.closed = True

    def retire(self, lane: Lane) -> None:
        """It is killed, and not waited for."""
        self._let_go(lane)
        lane.process.kill()
        if not self._has_ended(lane):
            self._ending.append(lane)

    def settle(self) -> bool:
        """Look after those that were killed, and for what a worker has made beside itself. Whether any has not ended yet."""
        self._ending = [lane for lane in self._ending if not self._has_ended(lane)]
        process_tree.kill_orphans()
        return bool(self._ending)

    def select(self, least_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What has come from workers. Where this process stood still meanwhile, perhaps with all of them, that time is no job's."""
        begin, patience = time.monotonic(), self._patience_s(least_s)
        events = self.selector.select(patience)
        stood_still = time.monotonic() - begin - patience
        if stood_still > STOOD_STILL_S:
            for lane in self.lanes:
                lane.limit.count_not(stood_still)
        return events

    def _patience_s(self, least_s: float) -> float:
        """How long nothing need be looked at: at most `least_s` where memory is limited, or one that was killed has not ended yet."""
        now = time.monotonic()
        nearest = min((lane.limit.next_s for lane in self.lanes if lane.is_busy), default=now + 1)
        limited = any(lane.pending and lane.pending.job.limits.memory_bytes for lane in self.lanes)
        return max(min(nearest - now, least_s if limited or self._ending else LONGEST_S), 0.0)

    def keep_idle(self) -> None:
        """Those that may wait for another launch are let go."""
        for lane in [lane for lane in self.lanes if lane.process.jobs_done and self._idle.keep(lane)]:
            self._let_go(lane)

    def end(self) -> None:
        """All of them: nothing is left of any."""
        for lane in list(self.lanes):
            self.retire(lane)
        for lane in self._ending:
            lane.process.end()
            if lane.gpu:
                self._leases.give_back(lane.gpu)
        self._ending.clear()
        process_tree.reap(patience_s=2.0)
        wait_for_removals()
        self.selector.close()

    def _has_ended(self, lane: Lane) -> bool:
        if not lane.process.finish():
            return False
        if lane.gpu:
            self._leases.give_back(lane.gpu)
        return True

    def _let_go(self, lane: Lane) -> None:
        self.lanes.remove(lane)
        if not lane.closed:
            self.selector.unregister(lane.process.socket)
        if lane.watched:
            self.selector.unregister(lane.process.death)
