"""Flows that cannot run here have their answer without a worker."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.judge.missing_text import missing_text
from assay.pipeline.adapters import Services
from assay.plugins import transforms_available


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


def _needed(flow: Flow) -> tuple[str, ...]:
    return (flow.environment, flow.backend, *flow.transforms)
