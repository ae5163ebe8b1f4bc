"""Flows that cannot run here have their answer without a worker."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.judge.availability_text import missing_text
from assay.pipeline.services import Services
from assay.plugins import transforms_available


def unavailable(jobs: Sequence[Job], services: Services) -> list[Result]:
    """Those of flows whose backend or transforms are not installed where they run."""
    known: dict[tuple[str, ...], tuple[str, Cause]] = {}
    needing = [job for job in jobs if isinstance(job, FlowJob)]
    for flow in (job.flow for job in needing):
        if (key := _needed(flow)) not in known:
            parts = (services.available(flow), *(() if flow.environment else transforms_available(flow)))
            here = next((one for one in parts if not one.available), parts[0])
            known[key] = missing_text(here), Cause.NOT_INSTALLED if here.install else Cause.MISSING_LIBRARY
    return [
        msgspec.structs.replace(
            empty_result(job, Outcome.UNAVAILABLE),
            cause=known[_needed(job.flow)][1],
            detail=known[_needed(job.flow)][0],
        )
        for job in needing
        if known[_needed(job.flow)][0]
    ]


def _needed(flow: Flow) -> tuple[str, ...]:
    return (flow.environment, flow.backend, *flow.transforms)
