"""One worker and what it is doing, as the supervisor sees it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from assay.core.job import RegionJob
from assay.core.limits import Limits
from assay.core.outcome import Stage
from assay.core.result import Result
from assay.core.step import UNKNOWN, Step
from assay.launch.core_wait import CoreWait
from assay.launch.failed_result import may_be_sent
from assay.launch.job_queue import Pending, WorkerKey
from assay.launch.machine_speed import times_slower
from assay.launch.process import WorkerProcess
from assay.launch.time_limit import TimeLimit

STILL_S = 15.0
"""So long, before a worker that is forked has said its first word: then it, or who forks it, is stuck."""
LOOK_S = 0.5
BETWEEN_S = 2.0
"""The longest time between two looks that counts: beyond it this process itself stood still, perhaps with that one."""


class Stillness:
    """Of one process after another: `is_stuck` is asked again and again."""

    def __init__(self, now: float) -> None:
        self._looked, self._still_s, self._seen = now, 0.0, ""

    def is_stuck(self, pid: int, now: float) -> bool:
        passed = now - self._looked
        if passed >= LOOK_S:
            self._looked, before, self._seen = now, self._seen, f"{pid} {_work(pid)}"
            self._still_s = self._still_s + min(passed, BETWEEN_S) if self._seen == before else 0.0
        return self._still_s >= STILL_S


def _work(pid: int) -> str:
    """What its threads have computed and waited for a core (schedstat, in proc(5)): the same as before where they did neither."""
    threads = []
    with suppress(OSError):
        for thread in sorted(os.listdir(f"/proc/{pid}/task")):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                threads.append(f"{thread}:{file.read().strip()}")
    return " ".join(threads)


@dataclass
class Lane:
    """`program` and `variables` are what its process was started with; `keep` says that no job has given it a reason to end with
    the launch; `fresh` that it has had no job, nor was forked; `waited` that it had nothing to do since its last
    job; `closed` that nobody has the other end of its socket; `watched` that its death is looked for; `jobs_before` is how many jobs its
    process had done before the one in hand."""

    process: WorkerProcess
    kind: WorkerKey
    program: str
    variables: Mapping[str, str]
    gpu: str = ""
    ready: bool = False
    fresh: bool = True
    keep: bool = True
    waited: bool = False
    closed: bool = False
    watched: bool = False
    pending: Pending | None = None
    stage: Stage = Stage.START
    step: Step = UNKNOWN
    limit: TimeLimit = field(default_factory=lambda: TimeLimit(0.0, 0.0))
    peak_bytes: int = 0
    jobs_before: int = 0
    stillness: Stillness = field(default_factory=lambda: Stillness(time.monotonic()))

    @property
    def is_busy(self) -> bool:
        """It has a job, or starts for one; else it waits for its next."""
        return self.pending is not None or not self.ready

    def starts_no_more(self, now: float) -> bool:
        """It has had its time to say hello; or it was to be forked, which takes no time, and nobody is at it."""
        waits_for = self.process.forked_by
        return self.limit.is_over(now) or (waits_for > 0 and self.stillness.is_stuck(waits_for, now))

    def says_it_all(self, result: Result) -> bool:
        """A part of a graph in a process that had no other job: a repeat would be the same. One that anybody may have ended is
        repeated."""
        job = self.pending.job if self.pending is not None else None
        return isinstance(job, RegionJob) and not self.process.jobs_done and not may_be_sent(result)

    def allow(self, limit_s: float) -> None:
        """From now on."""
        wait = CoreWait(self.process.pid) if self.process.pid > 0 else None
        self.limit = TimeLimit(limit_s, time.monotonic(), wait, times_slower)

    def advance(self, limits: Limits) -> bool:
        """Where the job is now, as its process says; returns whether it has come further. The time that a busy machine takes to import a
        library is not the job's."""
        stage, step = self.process.stage(), self.process.step()
        before = self.stage, self.step
        if stage is not self.stage and stage is Stage.IMPORT:
            self.allow(limits.importing_s)
        elif stage is not self.stage and self.stage in (Stage.START, Stage.IMPORT):
            self.allow(limits.timeout_s)
        self.stage, self.step = stage, step
        return (stage, step) != before
