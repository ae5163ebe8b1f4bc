"""A node as the driver sees it: what it owes, and how much it may be given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.job_base import Job
from assay.launch.job_queue import WorkerKey

HORIZON_S = 1.0
"""A node has jobs for so long: it need not wait for the network, and little is to be done again where it is lost."""
MOST_AHEAD = 2000
NEWS = 0.25
"""The share of the newest job in what a job is expected to take: those that come next may be of another kind."""


@dataclass(eq=False)
class Node:
    """`actor`, `stream` and `ray_id` are Ray's; `owed` are its jobs that have no answer, by key; `sent` are calls of
    the actor that Ray has not said to have come. `job_s` is what a job is expected to take, None before the first answer. `lacks` are kinds
    of jobs for which something is not installed there, `has` those of which it has done one; `named` what the
    user was told that it lacks. `base` as in `packets.Greeting`."""

    name: str
    actor: Any
    stream: Any
    workers: int
    gpus: int = 0
    ray_id: str = ""
    base: str = ""
    owed: dict[str, Job] = field(default_factory=dict)
    sent: list[Any] = field(default_factory=list)
    job_s: float | None = None
    lacks: set[WorkerKey] = field(default_factory=set)
    has: set[WorkerKey] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    @property
    def room(self) -> int:
        """How many jobs more it may have."""
        return self._ahead() - len(self.owed)

    def is_news(self, detail: str) -> bool:
        """Whether the user was not told yet that this is missing there."""
        known = detail in self.named
        self.named.add(detail)
        return not known

    def give(self, jobs: Sequence[Job]) -> None:
        self.owed |= {job.key: job for job in jobs}

    def answer(self, key: str, seconds: float | None) -> bool:
        """Whether it owed that: what it was asked before it was given up is not heard. `seconds` are the job's own, as the node says: the
        time between two answers is that of the start of its workers and of the way as well, and a node that waits for jobs looks slow.
        None: what became of its process says nothing of how long a job takes."""
        if self.owed.pop(key, None) is None:
            return False
        if seconds is not None:
            known = seconds if self.job_s is None else self.job_s
            self.job_s = known + NEWS * (seconds - known)
        return True

    def _ahead(self) -> int:
        """A few long jobs are shared out evenly to the end, short ones go in large parcels."""
        if self.job_s is None:
            return 2 * self.workers
        many = HORIZON_S * self.workers / max(self.job_s, HORIZON_S / MOST_AHEAD)
        return max(2 * self.workers, min(MOST_AHEAD, int(many)))
