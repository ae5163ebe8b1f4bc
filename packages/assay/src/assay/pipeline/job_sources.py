"""The jobs of a graph that are ready, as a launcher takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from assay.core.job_base import Job


class Ready:
    """What waits for a worker, and what will probably be asked for."""

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()
        self.coming: dict[str, Job] = {}

    def next_ready(self) -> Job | None:
        """See `ports.JobSource`."""
        return self.jobs.popleft() if self.jobs else None

    def expected(self) -> Iterable[Job]:
        """See `ports.JobSource`."""
        return self.coming.values()


class Groups:
    """The jobs of one group, and when they have ended those of the next."""

    def __init__(self) -> None:
        self.waiting: deque[deque[Job]] = deque()
        self.running = 0
        self._group: deque[Job] = deque()

    def next_ready(self) -> Job | None:
        """See `ports.JobSource`."""
        if not self._group and not self.running and self.waiting:
            self._group = self.waiting.popleft()
        if not self._group:
            return None
        self.running += 1
        return self._group.popleft()

    def expected(self) -> Iterable[Job]:
        """See `ports.JobSource`."""
        return ()
