"""A metric through the history: alarms as they would have come, and where its level changed."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.comparison import Direction, StatedMetric
from assay.core.machine import Machine
from assay.core.trend import Change, Point, Trend
from assay.errors import UsageError
from assay.judge.metric_registry import direction, unit
from assay.judge.named_metrics import metrics, stated_by
from assay.pipeline.provenance import this_machine
from assay.ports import PastResult, Store
from assay.stats.cusum import alarms
from assay.stats.step_changes import step_changes

SHORT = {
    "latency": "latency.median_ms",
    "cpu": "latency.cpu_median_ms",
    "throughput": "throughput.per_s",
    "memory": "memory.run_peak_bytes",
    "size": "artifact.bytes",
    "build": "stage.lower_s",
    "load": "stage.load_s",
    "error": "budget_used",
}
"""What people say, and the metric they mean."""


class Observed(msgspec.Struct, frozen=True):
    """One result of a cell, with its metrics by name, and what is stated of those that a plug-in made."""

    run_id: str
    started_at: str
    commit: str
    machine: str
    metrics: dict[str, float]
    stated: dict[str, StatedMetric] = {}


def observed(past: PastResult) -> Observed:
    """What a trend needs of it."""
    known = (past.run_id, past.started_at, past.commit, past.machine)
    return Observed(*known, metrics(past.result), stated_by(past.result))


def trend(store: Store, case: str, flow: str, metric: str, machine: Machine | None = None) -> Trend:
    """Oldest first. Runs on other kinds of machine than `machine` (default: this one) are counted, and left out.

    Raises UsageError where no run has recorded the metric, with the nearest that were.
    """
    return trend_of(map(observed, store.history(case, flow)), case, flow, metric, (machine or this_machine()).kind)


def trend_of(
    past: Iterable[Observed],
    case: str,
    flow: str,
    metric: str,
    machine: str,
    recorded: Iterable[str] = (),
    runs: Mapping[str, int] | None = None,
) -> Trend:
    """The same of results that were read before, the newest first. `machine` is a kind of machine, `recorded` names metrics that the cell
    has beside those of `past`, `runs` how many each kind of machine has where `past` has some of them."""
    name = SHORT.get(metric, metric)
    points: list[Point] = []
    metrics: set[str] = set(recorded)
    stated: dict[str, StatedMetric] = {}
    elsewhere: Counter[str] = Counter()
    last = ""
    for point in past:
        if point.run_id == last:
            continue
        metrics |= point.metrics.keys()
        stated |= point.stated
        value = point.metrics.get(name, math.nan)
        if not math.isfinite(value):
            continue
        last = point.run_id
        if point.machine == machine:
            points.append(Point(point.run_id, point.started_at, point.commit, value))
        else:
            elsewhere[point.machine] += 1
    points.reverse()
    elsewhere |= Counter(
        {machine_kind: count for machine_kind, count in (runs or {}).items() if machine_kind in elsewhere}
    )
    if not points:
        raise UsageError(_nothing(case, flow, name, metrics, elsewhere, machine))
    values = [point.value for point in points]
    return Trend(
        case,
        flow,
        name,
        unit(name, stated),
        machine,
        tuple(points),
        tuple(alarms(worse_is_more(values, direction(name, stated)))),
        tuple(_changes(points, direction(name, stated))),
        elsewhere.total(),
    )


def worse_is_more(values: Sequence[float], bad: Direction) -> list[float]:
    """The values, turned round where less is worse."""
    falls = bad == "down"
    return [1.0 / value if falls and value else value for value in values]


def _changes(points: Sequence[Point], bad: Direction) -> list[Change]:
    return [
        Change(
            step.place,
            step.before,
            step.after,
            step.percent,
            (step.after < step.before) if bad == "down" else (step.after > step.before),
            points[step.place - 1].commit,
            points[step.place].commit,
        )
        for step in step_changes([point.value for point in points])
    ]


def _nothing(case: str, flow: str, metric: str, metrics: set[str], elsewhere: Counter[str], here: str) -> str:
    if elsewhere:
        there = ", ".join(f"{count} on {machine}" for machine, count in elsewhere.most_common(3))
        return f"{metric} of {case} on {flow} was recorded on other kinds of machine alone ({there}), and this is {here}: ask there"
    if not metrics:
        return f"no run of {case} on {flow} is in this history; `assay runs` lists what there is"
    if metric in metrics:
        return f"no run of {case} on {flow} has a number for {metric} in what was asked: ask for other days"
    near = difflib.get_close_matches(metric, metrics, n=3, cutoff=0.4) or sorted(metrics)[:3]
    return f"no run of {case} on {flow} recorded {metric!r}; the nearest are {', '.join(near)}"
