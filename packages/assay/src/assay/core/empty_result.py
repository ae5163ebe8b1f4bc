"""The result of a job before anything was observed: both sides of the wall start from it."""

from __future__ import annotations

from typing import Any, TypeVar, get_args, overload

from assay.core.job import job_digest
from assay.core.job_base import AnsweredBy, Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import AnyResult

_TYPES: dict[str, type[AnyResult]] = {str(arg.__struct_config__.tag): arg for arg in get_args(AnyResult)}
_Answer = TypeVar("_Answer")


@overload
def empty_result(job: AnsweredBy[_Answer], outcome: Outcome = ...) -> _Answer: ...
@overload
def empty_result(job: Job, outcome: Outcome = ...) -> AnyResult: ...


def empty_result(job: Any, outcome: Outcome = Outcome.OK) -> Any:
    """Of the type that answers the job. Carries the job's names and digest, and nothing else."""
    return _TYPES[job.kind](
        job_key=job.key,
        case=job.case.name,
        flow=job.subject,
        job_digest=job_digest(job),
        outcome=outcome,
        stage=Stage.START,
    )
