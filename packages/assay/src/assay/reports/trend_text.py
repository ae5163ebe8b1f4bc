"""A trend as text for people, as CSV, and as Prometheus's exposition format."""

from __future__ import annotations

import csv
import io

from assay.core.trend import Change, Trend
from assay.stats.cusum import LEAST_POINTS

_UNKNOWN = "an unknown commit"


def as_text(trend: Trend) -> str:
    """A few lines: what is there, every change with its commits, every alarm."""
    values = [point.value for point in trend.points]
    unit = f" {trend.unit}" if trend.unit else ""
    lines = [
        f"{trend.case} | {trend.flow} | {trend.metric} on {trend.machine}",
        f"{len(values)} run{'s' * (len(values) > 1)} from {trend.points[0].started_at[:16]} to {trend.points[-1].started_at[:16]}, "
        f"newest {values[-1]:.4g}{unit}, least {min(values):.4g}, most {max(values):.4g}",
    ]
    if trend.elsewhere:
        lines.append(f"{trend.elsewhere} runs on other kinds of machine are left out")
    lines += [_change(trend, change, unit) for change in trend.changes]
    for place in trend.alarms:
        point = trend.points[place]
        lines.append(f"alarm at run {point.run_id} ({point.commit[:12] or _UNKNOWN}): surely worse than before")
    if not trend.alarms and not trend.changes:
        early = f"; it takes {LEAST_POINTS} runs to raise an alarm" if len(values) < LEAST_POINTS else ""
        lines.append(f"no alarm, and no change of level{early}")
    return "\n".join(lines) + "\n"


def _change(trend: Trend, change: Change, unit: str) -> str:
    word = "worse" if change.worse else "better"
    first, last = change.first_commit[:12] or _UNKNOWN, change.last_commit[:12] or _UNKNOWN
    at = trend.points[change.place].run_id
    return (
        f"{word} by {abs(change.percent):.1f} % from run {at}: {change.before:.4g} -> {change.after:.4g}{unit}, "
        f"between the commits {last} and {first}"
    )


def as_csv(trend: Trend) -> str:
    """One line per run; `alarm` and `change` are 1 where there is one."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(["run", "started_at", "commit", "case", "flow", "metric", "value", "alarm", "change"])
    changed = {change.place for change in trend.changes}
    cell = (trend.case, trend.flow, trend.metric)
    for place, point in enumerate(trend.points):
        marks = (int(place in trend.alarms), int(place in changed))
        table.writerow([point.run_id, point.started_at, point.commit, *cell, repr(point.value), *marks])
    return written.getvalue()


def as_prometheus(trend: Trend) -> str:
    """The newest value and the number of alarms, for a node exporter's text collector.

    Format: prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
    """
    name = "assay_" + "".join(letter if letter.isalnum() else "_" for letter in trend.metric)
    labels = ",".join(
        f'{key}="{_escaped(value)}"'
        for key, value in (("case", trend.case), ("flow", trend.flow), ("machine", trend.machine))
    )
    return (
        f"# HELP {name} {trend.metric} of the newest run{f' in {trend.unit}' if trend.unit else ''}\n"
        f"# TYPE {name} gauge\n{name}{{{labels}}} {trend.points[-1].value!r}\n"
        f"# HELP {name}_alarms alarms in the history\n"
        f"# TYPE {name}_alarms gauge\n{name}_alarms{{{labels}}} {len(trend.alarms)}\n"
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
