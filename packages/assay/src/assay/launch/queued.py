"""Launchers that are fed from outside, as on a machine of a cluster: jobs come in, results go out, as long as the process lives.

Their supervisors run in one thread that lasts: a worker ends when the *thread* that started it ends (PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass

from assay.core.job_base import Job
from assay.core.result import Result
from assay.ports import Launcher

MOST_RESULTS = 256
"""Of one batch."""
GATHER_S = 0.25
"""A batch waits so long for more, and so do the jobs that are sent for its results: each costs as much as many of them."""
LOOK_S = 0.03
SHARE = 4
"""Of the jobs that are here, the part that a batch is of: the next ones come long before the last of them is done."""


@dataclass(frozen=True)
class _Asked:
    job: Job
    alone: bool


class _Closing(Exception):
    """Raised where a launcher asks for the next job: it ends, and so do its workers."""


class _Inbox:
    """See `ports.JobSource`: the jobs for one of the two launchers, as they come. One for the other waits until this one is done."""

    def __init__(self, asked: queue.SimpleQueue[_Asked | None], first: _Asked) -> None:
        self._asked, self._alone = asked, first.alone
        self.left: _Asked | None = first

    def next_ready(self) -> Job | None:
        job, self.left = self.left, None
        if job is None:
            try:
                job = self._asked.get_nowait()
            except queue.Empty:
                return None
            if job is None:
                raise _Closing
        if job.alone != self._alone:
            self.left = job
            return None
        return job.job

    def expected(self) -> Iterable[Job]:
        """None is known before it comes."""
        return ()


class QueuedLauncher:
    """The first of `launchers` does what is added, the second what is added as to be alone. They are opened at once, and closed, in the
    thread in which they start processes. What a launcher raises is raised by `batches`."""

    def __init__(self, launchers: AbstractContextManager[tuple[Launcher, Launcher]]) -> None:
        self._launchers = launchers
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._given: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
        self._added = self._told = 0
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self._thread.start()

    def add(self, jobs: Sequence[Job], *, alone: bool = False) -> None:
        """They are taken within half a second, also while others run."""
        self._added += len(jobs)
        for job in jobs:
            self._asked.put(_Asked(job, alone))

    @property
    def is_at_work(self) -> bool:
        """Whether anything was added that has not come out of `batches`."""
        return self._added > self._told

    def fail(self, error: Exception) -> None:
        """Raised by `batches`: what was to be added cannot be."""
        self._given.put(error)

    def batches(self) -> Iterator[list[Result]]:
        """Some results at a time, and the last ones as soon as they are there; ends when it is closed."""
        while True:
            batch = [self._given.get()]
            self._gather(batch)
            if results := [result for result in batch if isinstance(result, Result)]:
                self._told += len(results)
                yield results
            for result in batch:
                if result is None:
                    return
                if isinstance(result, BaseException):
                    raise result

    def _gather(self, batch: list[Result | BaseException | None]) -> None:
        """Until it is a good part of what is to come, or took long enough."""
        until = time.monotonic() + GATHER_S
        while len(batch) < MOST_RESULTS and isinstance(batch[-1], Result):
            if not self._given.empty():
                batch.append(self._given.get())
            elif SHARE * len(batch) < self._added - self._told and time.monotonic() < until:
                time.sleep(LOOK_S)
            else:
                return

    def close(self) -> None:
        """Ends the workers; no process is left behind."""
        self._asked.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._launchers as launchers, suppress(_Closing):
                while (first := self._asked.get()) is not None:
                    self._launch(first, launchers)
        except BaseException as error:  # noqa: BLE001 - the thread's last word: whoever reads the results raises it
            self._given.put(error)
        self._given.put(None)

    def _launch(self, first: _Asked | None, launchers: tuple[Launcher, Launcher]) -> None:
        while first is not None:
            inbox = _Inbox(self._asked, first)
            with closing(launchers[first.alone].launch(inbox)) as results:
                for result in results:
                    self._given.put(result)
            first = inbox.left
