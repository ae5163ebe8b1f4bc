"""One invocation, with provenance."""

from __future__ import annotations

import msgspec

from assay.core.job import Job
from assay.core.machine import Machine
from assay.core.policy import Policy


class Run(msgspec.Struct, frozen=True):
    """`id` sorts by time (20261121T141905-3fa2b1); `status` is running, complete or interrupted; `jobs` all that was planned;
    `narrowed` says that a person asked for a part of a run only: its counts are not judged. `alone`
    says that it is one job, asked for by its key (--only): it owes no figures that the run's other jobs record."""

    id: str
    started_at: str
    command: str
    jobs: tuple[Job, ...]
    policy: Policy = Policy()
    machine: Machine = Machine()
    versions: dict[str, str] = {}
    commit: str = ""
    status: str = "running"
    baseline: str = ""
    narrowed: bool = False
    alone: bool = False
