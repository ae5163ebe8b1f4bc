"""One invocation, with provenance."""

from __future__ import annotations

import msgspec

from assay.core.job import AnyJob
from assay.core.machine import Machine
from assay.core.policy import Policy
from assay.core.speed import BaselineEngine


class ModelSource(msgspec.Struct, frozen=True):
    """A model that was named by where it comes from: `path` is where its file lay, `sha256` the digest of that file. `commit` is the
    revision that the name stood for, "" where there are none."""

    named: str
    path: str
    sha256: str
    commit: str = ""


class Run(msgspec.Struct, frozen=True):
    """`id` sorts by time (20261121T141905-3fa2b1); `status` is running, complete or interrupted; `jobs` all that was planned;
    `narrowed` says that a person asked for a part of a run only: its counts are not judged. `alone`
    says that it is one job, asked for by its key (--only): it owes no metrics that the run's other jobs record.
    `baselines` are the approved engines that its flows are compared with. `compared` gives, by the key of a job of a new engine, that of
    the job of this run that asks the same of the old one: what is judged is the new one alone. `missing`
    are shards (3/4) that were not there when it was put together: their jobs are in nobody's list. `sources` are the models that were
    named by where they come from. `branch` is that of the commit, "" where nobody says one. `split` is the digest of how the cases were
    shared out by time, "" where they were not: shards of one run have it alike."""

    id: str
    started_at: str
    command: str
    jobs: tuple[AnyJob, ...]
    policy: Policy = Policy()
    machine: Machine = Machine()
    versions: dict[str, str] = {}
    commit: str = ""
    status: str = "running"
    baseline: str = ""
    baselines: tuple[BaselineEngine, ...] = ()
    narrowed: bool = False
    alone: bool = False
    compared: dict[str, str] = {}
    missing: tuple[str, ...] = ()
    sources: tuple[ModelSource, ...] = ()
    branch: str = ""
    split: str = ""
