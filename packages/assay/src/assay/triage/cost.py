"""What a workaround costs in speed: the whole model with it beside the same without, by fresh interleaved pairs."""

from __future__ import annotations

import time

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.job import CompareSpeedJob, VerifyJob, other_kind
from assay.core.limits import Limits
from assay.core.result import Result
from assay.core.result_parts import speeds_of
from assay.core.speed import BaselineEngine, SpeedRule, interim_looks
from assay.judge.speed import judge_comparison
from assay.pipeline.adapters import Services
from assay.pipeline.two_process_comparison import comparisons
from assay.triage.cause import Cause
from assay.triage.quantizer import other_choices
from assay.triage.speed import speed_of

PAIRS = 4
LEAST_S = 5.0
"""With less time left nothing is compared."""
MOST_S = 120.0


def with_cost(cause: Cause, job: VerifyJob, services: Services, deadline: float) -> Cause:
    """Of the first cure, where the whole model is right with it, or of the first choice of the quantizer. Nothing is said where it does
    not come to figures, and where the page of a cause that was found before says it."""
    left = min(deadline - time.monotonic(), MOST_S)
    flow = _right_flow(cause, job.flow)
    if flow is None or left < LEAST_S or (cause.known_as and not cause.known_title):
        return cause
    rule = SpeedRule(looks=interim_looks(PAIRS))
    compare_job = other_kind(
        job,
        CompareSpeedJob,
        flow=replace(flow, name=f"{job.flow.name}-cured"),
        baseline=BaselineEngine(job.flow.name, job.flow, job.case.model),
        rule=rule,
        limits=Limits(timeout_s=left),
    )

    async def compared() -> list[Result]:
        return [comparison async for comparison in comparisons([compare_job], services)]

    for result in services.jobs.complete(compared()):
        for speed in speeds_of(result):
            if not speed.trouble and speed.rival_s:
                ratio = speed.own_s / speed.rival_s
                return replace(cause, cost=ratio, cost_speed=speed_of(judge_comparison(speed, rule).word, ratio))
    return cause


def _right_flow(cause: Cause, flow: Flow) -> Flow | None:
    """With what makes the whole model right; None where nothing does."""
    if cause.whole_cured:
        return replace(flow, options={**flow.options, **cause.cures[0].options})
    choices = dict(other_choices(flow.transforms))
    return next(
        (replace(flow, transforms=choices[transform]) for transform in cause.right_transforms if transform in choices),
        None,
    )
