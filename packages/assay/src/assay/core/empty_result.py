"""The result of a job before anything was observed: both sides of the wall start from it."""

from __future__ import annotations

from typing import get_args, overload

from assay.core import job as jobs
from assay.core import result as results
from assay.core.job import job_digest
from assay.core.job_base import Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import AnyResult

_TYPES: dict[str, type[AnyResult]] = {str(one.__struct_config__.tag): one for one in get_args(AnyResult)}


# fmt: off
@overload
def empty_result(job: jobs.InspectJob, outcome: Outcome = ...) -> results.InspectResult: ...
@overload
def empty_result(job: jobs.ReferenceJob, outcome: Outcome = ...) -> results.ReferenceResult: ...
@overload
def empty_result(job: jobs.VerifyJob, outcome: Outcome = ...) -> results.VerifyResult: ...
@overload
def empty_result(job: jobs.PerNodeJob, outcome: Outcome = ...) -> results.PerNodeResult: ...
@overload
def empty_result(job: jobs.MeasureJob, outcome: Outcome = ...) -> results.MeasureResult: ...
@overload
def empty_result(job: jobs.CompareSpeedJob, outcome: Outcome = ...) -> results.CompareSpeedResult: ...
@overload
def empty_result(job: jobs.AlternateJob, outcome: Outcome = ...) -> results.AlternateResult: ...
@overload
def empty_result(job: jobs.DeriveToleranceJob, outcome: Outcome = ...) -> results.DeriveToleranceResult: ...
@overload
def empty_result(job: jobs.ChangeJob, outcome: Outcome = ...) -> results.ChangeResult: ...
@overload
def empty_result(job: jobs.ListMutantsJob, outcome: Outcome = ...) -> results.ListMutantsResult: ...
@overload
def empty_result(job: jobs.SearchInputsJob, outcome: Outcome = ...) -> results.SearchInputsResult: ...
@overload
def empty_result(job: jobs.MutationScoreJob, outcome: Outcome = ...) -> results.MutationScoreResult: ...
@overload
def empty_result(job: jobs.ValuesJob, outcome: Outcome = ...) -> results.ValuesResult: ...
@overload
def empty_result(job: jobs.RegionJob, outcome: Outcome = ...) -> results.RegionResult: ...
@overload
def empty_result(job: jobs.ScreenJob, outcome: Outcome = ...) -> results.ScreenResult: ...
@overload
def empty_result(job: jobs.LoadJob, outcome: Outcome = ...) -> results.LoadResult: ...
@overload
def empty_result(job: Job, outcome: Outcome = ...) -> AnyResult: ...
# fmt: on


def empty_result(job: Job, outcome: Outcome = Outcome.OK) -> AnyResult:
    """Of the type that answers the job. Carries the job's names and digest, and nothing else."""
    return _TYPES[job.kind](
        job_key=job.key,
        case=job.case.name,
        flow=job.subject,
        job_digest=job_digest(job),
        outcome=outcome,
        stage=Stage.START,
    )
