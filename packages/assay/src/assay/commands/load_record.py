"""A load in the history: what assay.toml and the command line say of it, and the run that is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from assay.commands.composition import open_services
from assay.commands.load_limits import Limit
from assay.commands.reporting import destinations
from assay.config.assay_toml import Config, load_config, load_policy
from assay.core.job import LoadJob
from assay.core.load import LoadPoint, ServiceComparison
from assay.core.policy import Goal, Policy
from assay.core.result import LoadResult
from assay.judge.metric_registry import recorded_by
from assay.options.groups import DEFAULT_CONFIG, DEFAULT_HISTORY
from assay.options.load import LoadOptions
from assay.pipeline.open_run import Checked
from assay.pipeline.record_load import load_policy_of, load_result, record_load
from assay.serving.load_summary import LoadSummary, is_late
from assay.serving.rising_load import Curve


def config_of(options: LoadOptions) -> Config | None:
    """None where the load names no assay.toml and nothing of one."""
    if options.config is None and not options.service:
        return None
    return load_config(options.config or Path(DEFAULT_CONFIG))


def _policy(options: LoadOptions) -> Policy:
    if options.policy:
        return load_policy(options.policy)
    config = config_of(options)
    return config.policy if config else Policy()


def load_policy_given(options: LoadOptions) -> bool:
    """Whether a file has goals about loads."""
    return any(recorded_by(goal.metric) == "load" for goal in _policy(options).goals)


def recorded(options: LoadOptions, job: LoadJob, curve: Curve, limits: Sequence[Limit]) -> Checked:
    """The run, judged by its policy; reports are written."""
    points = [_point(rate, point) for rate, point in curve.points]
    source = curve.points[0][1].source if curve.points else ""
    result = load_result(job, points, knee=curve.knee, source=source, trouble=_trouble(curve), doubt=_doubt(curve))
    return _kept(options, job, result, load_policy_of(_policy(options), _goals(limits, points), points))


def recorded_comparison(options: LoadOptions, job: LoadJob, comparison: ServiceComparison, ended: str) -> Checked:
    """The same of two services, and which of them has ended ("": neither)."""
    return _kept(
        options, job, load_result(job, against=comparison, trouble=ended), load_policy_of(_policy(options), (), ())
    )


def _kept(options: LoadOptions, job: LoadJob, result: LoadResult, policy: Policy) -> Checked:
    reports = destinations(options.reports)
    config = config_of(options)
    history = options.history or (config.history if config else "") or DEFAULT_HISTORY
    with open_services(history, workers=1) as services:
        checked = record_load(job, result, policy, options.command, options.compare_run, services)
    for destination in reports:
        destination.write(checked)
    return checked


def _point(rate: float, load_summary: LoadSummary) -> LoadPoint:
    return LoadPoint(
        0.0 if math.isnan(rate) else rate,
        load_summary.metrics,
        load_summary.intervals,
        load_summary.errors,
        load_summary.resident,
    )


def _goals(limits: Sequence[Limit], points: Sequence[LoadPoint]) -> list[Goal]:
    """Each limit is one on every rate."""
    goals = []
    for name, operator, number in limits:
        for point in points:
            metric = f"load.rate{point.rate:g}.{name}" if point.rate else f"load.{name}"
            goal = Goal(metric, max=number, option="--require") if operator == "<=" else None
            goals.append(goal or Goal(metric, min=number, option="--require"))
    return goals


def _trouble(curve: Curve) -> str:
    for rate, point in curve.points:
        if point.ended:
            return point.ended
        errors, requests = point.metrics.get("errors", 0.0), point.metrics.get("requests", math.inf)
        if 2 * errors > requests:
            at = "" if math.isnan(rate) else f" at {rate:g} a second"
            kinds = f": {', '.join(point.errors)}" if point.errors else ""
            return f"more than half of the requests failed{at}, {errors:g} of {requests:g}{kinds}"
    return ""


def _doubt(curve: Curve) -> str:
    for _, point in curve.points:
        if point.metrics.get("valid") == 0.0:
            return "the tool itself calls this run invalid: no limit is decided"
        if "sender_late_p99_ms" in point.metrics and is_late(point.metrics):
            return "the sender itself was late: no limit is decided"
    return ""
