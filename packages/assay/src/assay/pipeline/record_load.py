"""A load in the history: one run with one job, judged by the policy as any other, and compared with the run before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.job import LoadJob
from assay.core.load import LoadPoint, ServiceComparison
from assay.core.outcome import Outcome
from assay.core.policy import Goal, Policy
from assay.core.result import LoadResult
from assay.core.run import Run
from assay.judge.metric_registry import recorded_by
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked, open_run
from assay.pipeline.provenance import new_run_id, provenance, this_machine


def load_result(
    job: LoadJob,
    points: Sequence[LoadPoint] = (),
    *,
    knee: float | None = None,
    source: str = "",
    trouble: str = "",
    doubt: str = "",
    against: ServiceComparison | None = None,
) -> LoadResult:
    """`trouble` is why the service gave too little to judge it by, `doubt` why the figures prove nothing ("": they do)."""
    outcome = Outcome.ERROR if trouble else Outcome.MISTRUSTED if doubt else Outcome.OK
    return replace(
        empty_result(job, outcome),
        points=tuple(points),
        knee=knee or 0.0,
        source=source,
        detail=trouble or doubt,
        against=against,
    )


def load_policy_of(policy: Policy, required: Sequence[Goal], points: Sequence[LoadPoint]) -> Policy:
    """What of a policy is about loads, and what is required besides. Failed requests that no goal allows fail a load."""
    beside = not points  # another service: what is asked of rates is not known there
    load_goals = [goal for goal in policy.goals if recorded_by(goal.metric) == "load"]
    goals = [goal for goal in load_goals if goal.metric.startswith("load.slowdown.") is beside] + list(required)
    places = [f"load.rate{point.rate:g}.errors" if point.rate else "load.errors" for point in points]
    named = {goal.metric for goal in goals}
    if "load.errors" not in named:
        goals += [Goal(place, max=0.0) for place in places if place not in named]
    return Policy(goals=tuple(goals), fail_on=policy.fail_on)


def record_load(
    job: LoadJob, result: LoadResult, policy: Policy, command: str, compare_run: str, services: Services
) -> Checked:
    """`compare_run` is the run that limits on degradation compare with ("": the newest that has this service)."""
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    before = compare_run or services.store.run_before(run_id, {(job.case.name, job.flow.name)})
    run = Run(
        id=run_id,
        command=command,
        jobs=(job,),
        policy=policy,
        **provenance(now, this_machine()),
        narrowed=True,
        baseline=services.store.run(before).id if before else "",
    )
    with open_run(run, services) as opened:
        opened.add(result)
    return opened.checked
