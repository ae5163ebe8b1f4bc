"""Workers of jobs that are still to come, started on a core that would be idle."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from assay.core.job_base import Job
from assay.errors import EnvironmentFailed, WorkerFailed
from assay.launch.job_queue import worker_key
from assay.launch.staff import Staff


def start_ahead(staff: Staff, expected: Iterable[Job]) -> None:
    """One at most, of a kind that has none yet. Environments are built, and GPUs taken, only for a job that is there."""
    if staff.at_work() >= staff.workers:
        return
    for kind in map(worker_key, expected):
        plain = not kind.environment and kind.device == "cpu"
        if plain and not any(lane.kind == kind for lane in staff.lanes):
            with suppress(EnvironmentFailed, WorkerFailed):  # told when a job needs it
                staff.start(kind, alone=False)
            return
