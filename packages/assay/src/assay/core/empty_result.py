"""The result of a job before anything was observed: both sides of the wall start from it."""

from __future__ import annotations

from assay.core.job import Job, job_digest
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result


def empty_result(job: Job, outcome: Outcome = Outcome.OK) -> Result:
    """Carries the job's names and digest, and nothing else."""
    return Result(
        job_key=job.key,
        case=job.case.name,
        flow=job.flow.name,
        task=job.kind,
        job_digest=job_digest(job),
        outcome=outcome,
        stage=Stage.START,
    )
