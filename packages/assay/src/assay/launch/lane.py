"""One worker and what it is doing, as the supervisor sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.core.outcome import Stage
from assay.core.step import UNKNOWN, Step
from assay.launch.job_queue import Pending, WorkerKey
from assay.launch.process import WorkerProcess


@dataclass
class Lane:
    """`program` and `variables` are what its process was started with; `keep` says that no job has given it a reason to end with
    the launch; `fresh` that it has had no job, nor was forked; `waited` that it had nothing to do since its last job."""

    process: WorkerProcess
    kind: WorkerKey
    program: str
    variables: Mapping[str, str]
    gpu: str = ""
    ready: bool = False
    fresh: bool = True
    keep: bool = True
    waited: bool = False
    pending: Pending | None = None
    stage: Stage = Stage.START
    step: Step = UNKNOWN
    deadline: float = 0.0
    peak_bytes: int = 0

    @property
    def is_busy(self) -> bool:
        """It has a job, or starts for one; else it waits for its next."""
        return self.pending is not None or not self.ready
