"""A model that never ends costs its time limit once: whose first oracle has no answer soon, its engines are asked before the oracle is
given all of its time; and an engine that had no answer is not asked something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.job import AnyJob, VerifyJob
from assay.core.job_base import EngineJob, InputsJob
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.pipeline.adapters import Services
from assay.pipeline.references.ensure_references import are_late, unanswered
from assay.pipeline.references.tolerances import late_tolerances

_ENGINE = (Stage.TRANSFORM, Stage.LOWER, Stage.LOAD, Stage.RUN)
"""Stages in which the engine has the time, whatever is asked of it."""
_UNKNOWN = "the oracle is asked when the engine has ended"


async def engines_out_of_time(jobs: Sequence[AnyJob], services: Services, *, coarse: bool) -> list[Result]:
    """The results of those jobs of one case whose engine reaches its time limit, where the oracle has no answer soon, or, of a case that
    brings its answers, the derivation of its tolerance does not end soon. `coarse` as of `ensure_tolerances`."""
    fed = {job.reference_dir: job for job in jobs if isinstance(job, InputsJob) and job.reference_dir}
    late = [folder for folder, job in fed.items() if await are_late(job, services)]
    questions: list[AnyJob] = [
        unanswered(job, _UNKNOWN) for job in jobs if isinstance(job, VerifyJob) and job.reference_dir in late
    ]
    questions += await late_tolerances(jobs, services, coarse=coarse)
    if not questions:
        return []
    ended = [result async for result in services.jobs.results(questions) if not_answered(result)]
    return [*ended, *(left for result in ended for left in left_unasked(jobs, result))]


def not_answered(result: Result) -> bool:
    """Whether the engine itself used up the time of this job."""
    return result.outcome is Outcome.TIMEOUT and result.stage in _ENGINE


def left_unasked(jobs: Sequence[AnyJob], verified: Result) -> list[Result]:
    """The results of the other jobs of an engine that had no answer in the time of its verify job."""
    others = [
        job
        for job in jobs
        if isinstance(job, EngineJob) and job.key != verified.job_key and _engine(job) == (verified.case, verified.flow)
    ]
    detail = f"not asked: {verified.detail}, when its answers were to be verified"
    return [
        replace(empty_result(job, Outcome.TIMEOUT), stage=verified.stage, cause=Cause.TIMEOUT, detail=detail)
        for job in others
    ]


def _engine(job: AnyJob) -> tuple[str, str]:
    return job.case.name, job.subject
