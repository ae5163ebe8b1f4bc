"""Slowness: the operator that takes the time, by the profiles that the performance gate made of both engines."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec.structs import replace

from assay.core.job_base import FlowJob, Job
from assay.core.result import CompareSpeedResult, MeasureResult, Result
from assay.core.result_parts import speeds_of
from assay.core.run import Run
from assay.core.verdict import VerdictStatus
from assay.judge.operator_regressions import Change, differences, operator_regressions
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import judge_run
from assay.triage.cause import Cause, Where
from assay.triage.symptom import SLOW, TOO_SLOW, Symptom

CALL_TIMES = (
    "latency.*",
    "throughput.*",
    "operator.*_ms",
    "speed.slowdown_percent",
    "speed.wall_slowdown_percent",
    "speed.batch*.slowdown_percent",
    "speed.batch*.wall_slowdown_percent",
)
"""Metrics of the time of a call, which the operators take. Loading and building are not in their profile."""


def slow_jobs(run: Run, results: Sequence[Result], services: Services) -> frozenset[str]:
    """Keys of the jobs that break a limit on the time of a call, whatever else is wrong with them."""
    goals = tuple(goal for goal in run.policy.goals if _is_call_time(goal.metric))
    timing_alone = replace(run, policy=replace(run.policy, goals=goals, fail_on=()))
    return frozenset(
        verdict.job_key
        for verdict in judge_run(timing_alone, results, services).verdicts
        if verdict.word is VerdictStatus.FAIL and verdict.observed is not None and _is_call_time(verdict.metric)
    )


def _is_call_time(metric: str) -> bool:
    return any(fnmatchcase(metric, pattern) for pattern in CALL_TIMES)


def cause_of_slowness(job: Job, result: Result, folder: Path) -> Cause | None:
    """Of a red comparison what takes longer than before, of a measurement that misses its limit what takes longest; None where the
    engines have no profile, or where no operator takes longer: the time is lost between them."""
    if isinstance(result, CompareSpeedResult):
        before, after = result.baseline_operator_times, result.operator_times
        changes = operator_regressions(before, after) if before else []
        lost = sum(timing.seconds for timing in after) - sum(timing.seconds for timing in before)
        differing = "; ".join(differences(result.baseline_facts, result.facts))
    elif isinstance(result, MeasureResult):
        longest = sorted(result.operator_times, key=lambda operator_time: -operator_time.seconds)
        changes, differing = [Change(timing.name, timing.operator, None, timing.seconds) for timing in longest], ""
        lost = sum(timing.seconds for timing in longest)
    else:
        return None
    assert isinstance(job, FlowJob)
    slower = [change for change in changes if change.delta_s > 0.0]
    if not slower:
        return None
    first = slower[0]
    ratio = max(
        (speed.own_s / speed.rival_s for speed in speeds_of(result) if speed.rival_s),
        default=1.0,
    )
    symptom = Symptom(TOO_SLOW if isinstance(result, MeasureResult) else SLOW, size=ratio - 1.0)
    return Cause(
        job_key=job.key,
        model=job.case.name,
        flow=job.flow.name,
        backend=job.flow.backend,
        versions=result.versions,
        where=Where.NODE if first.name else Where.COMBINATION,
        end=symptom,
        symptom=symptom,
        nodes=tuple(change.name for change in slower if change.name),
        operators=(first.operator,),
        nodes_of_model=job.case.model.nodes,
        explains=min(1.0, first.delta_s / lost) if lost > 0.0 else None,
        slower=tuple(slower),
        detail=differing,
        folder=str(folder),
    )
