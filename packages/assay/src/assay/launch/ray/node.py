"""A node as the driver sees it: what it owes, and how much it may be given."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.job import Job

HORIZON_S = 1.0
"""A node has jobs for so long: it need not wait for the network, and little is to be done again where it is lost."""
MOST_AHEAD = 2000
MEMORY_S = 4.0
"""Of how fast it answered: jobs of another kind may take longer."""


@dataclass(eq=False)
class Node:
    """`actor` and `stream` are Ray's; `owed` are its jobs that have no answer, by key; `sent` are calls of
    the actor that Ray has not said to have come."""

    name: str
    actor: Any
    stream: Any
    workers: int
    owed: dict[str, Job] = field(default_factory=dict)
    sent: list[Any] = field(default_factory=list)
    answered: float = 0.0
    busy_s: float = 0.0
    seen_s: float = 0.0

    @property
    def room(self) -> int:
        """How many jobs more it may have."""
        return self._ahead() - len(self.owed)

    def give(self, jobs: Sequence[Job]) -> None:
        if not self.owed:
            self.seen_s = time.monotonic()
        self.owed |= {job.key: job for job in jobs}

    def answer(self, key: str) -> bool:
        """Whether it owed that: what it was asked before it was given up is not heard."""
        now = time.monotonic()
        self.answered, self.busy_s, self.seen_s = self.answered + 1, self.busy_s + now - self.seen_s, now
        if self.busy_s > MEMORY_S:
            self.answered, self.busy_s = self.answered / 2, self.busy_s / 2
        return self.owed.pop(key, None) is not None

    def _ahead(self) -> int:
        """By how fast it answers: a few long jobs are shared out evenly to the end, short ones go in large parcels."""
        rate = self.answered / max(self.busy_s, 0.05)
        return max(2 * self.workers, min(MOST_AHEAD, int(HORIZON_S * rate)))
