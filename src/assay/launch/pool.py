"""Long-lived workers for verifying, and one fresh process per job for measuring and for suspects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from assay.core.job import Job
from assay.core.result import Result
from assay.launch.supervisor import Supervisor


class Pool:
    """Warm workers, each replaced after 100 jobs or any failure."""

    def __init__(self, workers: int = 0, recycle: int = 100) -> None:
        self._workers = workers or min(os.cpu_count() or 1, 8)
        self._recycle = recycle

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """See `ports.Launcher`."""
        workers = max(1, min(self._workers, len(jobs)))
        return Supervisor(workers=workers, recycle=self._recycle).launch(jobs)


class Fresh:
    """A new process for every job; one at a time unless told otherwise, so that measuring is alone."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """See `ports.Launcher`."""
        return Supervisor(workers=self._workers, recycle=1).launch(jobs)
