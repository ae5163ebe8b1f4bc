"""A metric of one cell through the runs, flows beside one another, with alarms, changes of level and what came between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.result import measurements_of
from assay.core.trend import Change, Point, Trend
from assay.errors import UsageError
from assay.pipeline.trend import SHORT, Observed, observed, trend_of
from assay.ports.browsing import CellQuery
from assay.stats.percentiles import percentile
from assay.web.answer import Answer
from assay.web.site import Site
from assay.web.trend_plot import plot

LISTED = 100
NEWEST = 4
"""Results by which it is seen that a cell has others than it had."""
MOST_BESIDE = 6
HEADER = ("flow", "run", "started_at", "commit", "machine", "metric", "value", "alarm", "change")
SPREAD = (10.0, 25.0, 75.0, 90.0)
"""Percentiles of the raw samples that are drawn behind a median latency."""


class Seen(msgspec.Struct, frozen=True):
    """Of one result: its metrics, the versions that it ran with, and the spread of its samples in ms."""

    observed: Observed
    versions: dict[str, str]
    spread_ms: tuple[float, ...]


class Between(msgspec.Struct, frozen=True):
    """A change of level: from the run before it to the run after, and the versions that differ between them."""

    flow: str
    change: Change
    last_run: str
    first_run: str
    versions: tuple[tuple[str, str, str], ...]


def trend(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises UsageError where no cell is named, or no run of it has the metric."""
    case, flow = query.get("case", ""), query.get("flow", "")
    if not case or not flow:
        raise UsageError(
            "the trend of what? its address has a case and a flow: /trend?case=NAME&flow=NAME&metric=latency"
        )
    seen = read_cell(site, case, flow)
    if not seen:
        raise UsageError(f"no run of {case} on {flow} is in this history")
    named = sorted({name for one in seen for name in one.observed.metrics})
    metric = _metric(query.get("metric", ""), named)
    machines = Counter(one.observed.machine for one in seen)
    machine = query.get("machine", "") or seen[0].observed.machine
    beside = [name for name in query.get("beside", "").split(",") if name and name != flow][:MOST_BESIDE]
    wanted = {flow: seen} | {name: read_cell(site, case, name) for name in beside}
    trends, missing = _trends(wanted, case, metric, machine, query)
    values = {
        "case": case,
        "flow": flow,
        "metric": metric,
        "metrics": named,
        "machine": machine,
        "machines": sorted(machines),
        "beside": beside,
        "trends": trends,
        "missing": missing,
        "plot": plot(trends, {name: _spread(found) for name, found in wanted.items()} if _is_median(metric) else {}),
        "changes": [between for one in trends for between in _between(one, wanted[one.flow])],
        "newest": [(one.flow, _listed(one)) for one in trends],
        "elsewhere": sum(one.elsewhere for one in trends),
        "others": [name for name in _flows(site, case) if name not in wanted],
        "days": {"since": query.get("since", ""), "until": query.get("until", "")},
    }
    return Answer("trend.html.j2", values, {"trends": trends}, HEADER, [row for one in trends for row in _rows(one)])


def read_cell(site: Site, case: str, flow: str) -> list[Seen]:
    """The newest first. Decoded once for each run that the cell has."""
    newest = tuple(site.store.cell_runs(case, flow, NEWEST))
    return site.cells.get((case, flow, newest), lambda: _read(site, case, flow)) if newest else []


def _read(site: Site, case: str, flow: str) -> list[Seen]:
    found = []
    for past in site.store.history(case, flow):
        smallest = min(measurements_of(past.result), key=lambda one: one.batch, default=None)
        told = [percentile(smallest.wall_s, at) for at in SPREAD] if smallest is not None else []
        spread = tuple(1e3 * value for value in told if value is not None)
        found.append(Seen(observed(past), past.result.versions, spread))
    return found


def _metric(asked: str, named: Sequence[str]) -> str:
    if asked:
        return SHORT.get(asked, asked)
    usual = (SHORT["latency"], SHORT["error"], "seconds")
    return next((name for name in usual if name in named), named[0] if named else SHORT["error"])


def _is_median(metric: str) -> bool:
    return metric == SHORT["latency"]


def _trends(
    wanted: Mapping[str, Sequence[Seen]], case: str, metric: str, machine: str, query: Mapping[str, str]
) -> tuple[list[Trend], list[str]]:
    """Those that there are, and a sentence for each flow beside the first that has none."""
    since, until = query.get("since", ""), query.get("until", "")
    trends, missing = [], []
    for flow, seen in wanted.items():
        inside = [
            one.observed
            for one in seen
            if (not since or one.observed.started_at >= since) and (not until or one.observed.started_at[:10] <= until)
        ]
        try:
            trends.append(trend_of(inside, case, flow, metric, machine))
        except UsageError as error:
            if not trends:
                raise
            missing.append(str(error))
    return trends, missing


def _between(found: Trend, seen: Sequence[Seen]) -> list[Between]:
    versions = {one.observed.run_id: one.versions for one in seen}
    rows = []
    for change in found.changes:
        before, after = found.points[change.place - 1].run_id, found.points[change.place].run_id
        old, new = versions.get(before, {}), versions.get(after, {})
        differ = [(name, old.get(name, ""), new.get(name, "")) for name in sorted(old.keys() | new.keys())]
        rows.append(Between(found.flow, change, before, after, tuple(one for one in differ if one[1] != one[2])))
    return rows


def _listed(found: Trend) -> list[tuple[Point, bool, bool]]:
    """The newest first, each with whether it is an alarm, and whether the level changed there."""
    changed = {change.place for change in found.changes}
    marked = [(point, place in found.alarms, place in changed) for place, point in enumerate(found.points)]
    return marked[: -LISTED - 1 : -1]


def _rows(found: Trend) -> list[tuple[object, ...]]:
    changed = {change.place for change in found.changes}
    return [
        (
            *(found.flow, point.run_id, point.started_at, point.commit, found.machine, found.metric, point.value),
            *(int(place in found.alarms), int(place in changed)),
        )
        for place, point in enumerate(found.points)
    ]


def _flows(site: Site, case: str) -> tuple[str, ...]:
    return site.store.matrix(CellQuery(case=case, exact=True), 0, 1, 0, 50).flows


def _spread(seen: Sequence[Seen]) -> dict[str, tuple[float, ...]]:
    return {one.observed.run_id: one.spread_ms for one in seen if one.spread_ms}
