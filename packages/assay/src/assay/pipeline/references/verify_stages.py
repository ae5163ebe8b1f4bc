"""Verify jobs by a coarse tolerance first, and by the derived one where the verdict depends on it.

A coarse tolerance is narrower than the derived one: what passes by it passes, and has its answer in a part of the time. What does not
pass by it is neither right nor wrong yet: the tolerance is derived, and the job is done again. It is never wrong by a coarse one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from assay.core.finding import Finding
from assay.core.job import JudgedJob, VerifyJob
from assay.core.job_base import Job
from assay.core.outcome import Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.result_parts import LossResult
from assay.core.run import Run
from assay.pipeline.adapters import Services
from assay.pipeline.references.originals import tolerance_of
from assay.pipeline.references.tolerances import derive, derived_of, ensure_tolerances, is_coarse, time_left_s

FIGURES = ("budget", "noise_share", "share_out", "ties")
"""Goals for these need the derived tolerance: a coarse one gives an upper bound of what is used of it."""


def coarse_suffices(run: Run) -> bool:
    """Whether nobody asks for metrics of the derived tolerance itself."""
    return not run.baseline and _without_figures(run.policy)


def _without_figures(policy: Policy) -> bool:
    named = [goal.metric.rpartition(".")[2] for goal in policy.goals]
    return policy.budget_max >= 1.0 and not any(name.startswith(FIGURES) for name in named)


BY_COARSE = "by a coarse tolerance, which is narrower than the derived one, the budget used is {used:.3g}"
_BUILDING = (Stage.IMPORT, Stage.TRANSFORM, Stage.LOWER, Stage.SAVE)
WITHOUT = "without a derived tolerance, by a multiple of the unit roundoff, the budget used is {used:.3g}"


class VerifyStages:
    """Verify jobs of one case; see `Stage`."""

    def __init__(self, services: Services, *, coarse: bool) -> None:
        self._services, self._coarse = services, coarse

    async def results(self, jobs: Sequence[Job]) -> AsyncIterator[Result]:
        """One each."""
        placed, failed = await ensure_tolerances(jobs, self._services, coarse=self._coarse)
        placed = [_kept(job) if isinstance(job, VerifyJob) and is_coarse(job) else job for job in placed]
        by_key = {job.key: job for job in placed}
        narrowly: dict[str, LossResult] = {}
        async for result in self._services.jobs.results(placed):
            job = by_key[result.job_key]
            if not isinstance(job, JudgedJob) or not isinstance(result, LossResult):
                yield result
            elif is_coarse(job) and _is_open(result):
                narrowly[result.job_key] = result
            elif (
                job.tolerance_dir in failed
                and failed[job.tolerance_dir].outcome is Outcome.TIMEOUT
                and _is_open(result)
            ):
                yield _undecided(result, failed[job.tolerance_dir], _limit_s(job, self._services), WITHOUT)
            else:
                yield result
        still = [job for job in placed if isinstance(job, JudgedJob) and job.key in narrowly]
        async for result in self._again(still, narrowly):
            yield result

    async def _again(self, jobs: Sequence[JudgedJob], before: dict[str, LossResult]) -> AsyncIterator[Result]:
        """By the derived tolerance those that are still open; where it cannot be had, they stay so."""
        fine = [msgspec.structs.replace(job, tolerance_dir=derived_of(job.tolerance_dir)) for job in jobs]
        failed = await derive(fine, self._services)
        for job in fine:
            if job.tolerance_dir in failed:
                yield _undecided(before[job.key], failed[job.tolerance_dir], _limit_s(job, self._services), BY_COARSE)
        left = [job for job in fine if job.tolerance_dir not in failed]
        async for result in self._services.jobs.results(left):
            yield _with_building(result, before[result.job_key])


def _kept(job: VerifyJob) -> VerifyJob:
    """The engine stays in the run's scratch, for the case that it is judged once more."""
    return msgspec.structs.replace(job, artifact_dir=f"{job.scratch}/engines") if job.scratch else job


def _with_building(result: Result, before: Result) -> Result:
    """An engine that the first job lowered was not lowered again: what that took is told with it."""
    if any(time.stage is Stage.LOWER for time in result.stage_times):
        return result
    building = tuple(time for time in before.stage_times if time.stage in _BUILDING)
    loading = tuple(time for time in result.stage_times if time.stage not in _BUILDING)
    seconds = result.seconds + sum(stage_time.seconds for stage_time in building)
    return msgspec.structs.replace(result, stage_times=(*building, *loading), seconds=seconds)


def _limit_s(job: JudgedJob, services: Services) -> float:
    return time_left_s(job.limits, services.evaluated_s.get(tolerance_of(job).reference_dir))


def _is_open(result: Result) -> bool:
    """Another tolerance could change the outcome."""
    return result.outcome in (Outcome.MISMATCH, Outcome.MISTRUSTED, Outcome.NONDETERMINISTIC)


def _undecided(result: LossResult, derivation: Result, limit_s: float, how: str) -> LossResult:
    """What no tolerance excuses stays a mismatch; all else is open."""
    comparisons = tuple(
        msgspec.structs.replace(comparison, findings=tuple(filter(_structural, comparison.findings)))
        for comparison in result.comparisons
    )
    findings = tuple(filter(_structural, result.findings))
    if findings or any(comparison.findings for comparison in comparisons):
        return msgspec.structs.replace(result, comparisons=comparisons, findings=findings)
    used = max((comparison.metrics.get("budget_used", 0.0) for comparison in comparisons), default=0.0)
    why = (
        f"did not end in its {limit_s:.4g} s: raise --derive-timeout, or derive-timeout-s in [limits]"
        if derivation.outcome is Outcome.TIMEOUT
        else f"ended in {derivation.outcome.value} ({derivation.detail})"
    )
    detail = f"{how.format(used=used)}, neither right nor wrong: the derivation {why}"
    return msgspec.structs.replace(
        result, outcome=Outcome.MISTRUSTED, detail=detail, comparisons=comparisons, findings=findings
    )


def _structural(finding: Finding) -> bool:
    return finding.kind not in ("values", "degenerate", "task")
