"""What is told of a launch while it goes on."""

from __future__ import annotations

from collections.abc import Callable

from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.step import Step

Watch = Callable[[Job, Stage | None, int, int, Step], None]
"""(job, stage, done, total, step): called where a worker comes to a stage of a job (None: its end, or that it waits for another
worker), of so many that are launched together, and where it has come further in it."""


def unwatched(job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
    """Nobody looks."""
    del job, stage, done, total, step
