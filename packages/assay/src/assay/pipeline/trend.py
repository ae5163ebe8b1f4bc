"""A metric through the history: alarms as they would have come, and where its level changed."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Sequence

from assay.core.comparison import Direction, StatedMetric
from assay.core.machine import Machine
from assay.core.trend import Change, Point, Trend
from assay.errors import UsageError
from assay.judge.metric_registry import direction, unit
from assay.judge.metrics import metrics, stated_by
from assay.pipeline.provenance import this_machine
from assay.ports import Store
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


def trend(store: Store, case: str, flow: str, metric: str, machine: Machine | None = None) -> Trend:
    """Oldest first. Runs on other kinds of machine than `machine` (default: this one) are counted, and left out.

    Raises UsageError where no run has recorded the metric, with the nearest that were.
    """
    name = SHORT.get(metric, metric)
    machine = machine or this_machine()
    points: list[Point] = []
    seen: set[str] = set()
    stated: dict[str, StatedMetric] = {}
    elsewhere: Counter[str] = Counter()
    last = ""
    for past in store.history(case, flow):
        if past.run_id == last:
            continue
        named = metrics(past.result)
        seen |= named.keys()
        stated |= stated_by(past.result)
        value = named.get(name, math.nan)
        if not math.isfinite(value):
            continue
        last = past.run_id
        if past.machine == machine.kind:
            points.append(Point(past.run_id, past.started_at, past.commit, value))
        else:
            elsewhere[past.machine] += 1
    points.reverse()
    if not points:
        raise UsageError(_nothing(case, flow, name, seen, elsewhere, machine.kind))
    values = [point.value for point in points]
    return Trend(
        case,
        flow,
        name,
        unit(name, stated),
        machine.kind,
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


def _nothing(case: str, flow: str, metric: str, seen: set[str], elsewhere: Counter[str], here: str) -> str:
    if elsewhere:
        there = ", ".join(f"{count} on {machine}" for machine, count in elsewhere.most_common(3))
        return f"{metric} of {case} on {flow} was recorded on other kinds of machine alone ({there}), and this is {here}: ask there"
    if not seen:
        return f"no run of {case} on {flow} is in this history; `assay runs` lists what there is"
    near = difflib.get_close_matches(metric, seen, n=3, cutoff=0.4) or sorted(seen)[:3]
    return f"no run of {case} on {flow} recorded {metric!r}; the nearest are {', '.join(near)}"
