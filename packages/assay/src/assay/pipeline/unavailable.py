"""Flows that cannot run here have their answer without a worker, and what a build finds missing is looked for once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job_base import EngineJob, FlowJob, Job
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.judge.words.missing_text import missing_text
from assay.pipeline.adapters import Services
from assay.plugins import transforms_available

_ENGINE = (Stage.IMPORT, Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD, Stage.RUN)
"""Where what is missing is the engine's, whatever is asked of it."""


def unavailable(jobs: Sequence[Job], services: Services) -> list[Result]:
    """Those of flows whose backend or transforms are not installed where they run."""
    missing: dict[tuple[str, ...], tuple[str, Cause] | None] = {}
    needing = [job for job in jobs if isinstance(job, FlowJob)]
    for flow in (job.flow for job in needing):
        if (key := _needed(flow)) not in missing:
            parts = (services.available(flow), *(() if flow.environment else transforms_available(flow)))
            here = next((part for part in parts if not part.available), None)
            cause = Cause.NOT_INSTALLED if here is not None and here.install else Cause.MISSING_LIBRARY
            missing[key] = None if here is None else (missing_text(here), cause)
    return [
        msgspec.structs.replace(empty_result(job, Outcome.UNAVAILABLE), detail=why[0], cause=why[1])
        for job in needing
        if (why := missing[_needed(job.flow)]) is not None
    ]


def left_unbuilt(jobs: Sequence[Job], verified: Result) -> list[Result]:
    """The results of the other jobs of an engine whose verify job found something missing while the engine was built or loaded: the
    same, for it would be missing again, after another build."""
    if verified.outcome is not Outcome.UNAVAILABLE or verified.stage not in _ENGINE:
        return []
    return [
        msgspec.structs.replace(
            empty_result(job, Outcome.UNAVAILABLE), stage=verified.stage, cause=verified.cause, detail=verified.detail
        )
        for job in jobs
        if isinstance(job, EngineJob) and job.key != verified.job_key and _is_of_engine(job, verified)
    ]


def _is_of_engine(job: EngineJob, result: Result) -> bool:
    return (job.case.name, job.subject) == (result.case, result.flow)


def _needed(flow: Flow) -> tuple[str, ...]:
    return (flow.environment, flow.backend, *flow.transforms)
