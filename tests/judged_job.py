"""One job in this process, with the outcome that the judge gives it."""

from __future__ import annotations

from assay.core.job_base import Job
from assay.core.result import Result
from assay.judge.job_outcome import with_outcome
from assay.worker.dispatch import execute
from assay.worker.stages import Stages


def execute_judged(job: Job, stages: Stages) -> Result:
    return with_outcome(execute(job, stages), job)
