"""A metric of one cell through the runs, flows and kinds of machine beside one another, with alarms, changes of level and what came
between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.annotation import Annotation
from assay.core.trend import Change, Point, Trend
from assay.errors import UsageError
from assay.pipeline.past_runs.trend import SHORT, Observed, trend_of
from assay.ports.browsing import CellQuery, MetricHistory, RunWindow
from assay.web.annotations import annotations_on
from assay.web.answer import Answer, page_number
from assay.web.machines import NEWEST as NEWEST_BESIDE
from assay.web.machines import machines
from assay.web.site import Site
from assay.web.trend_plot import plot

LISTED = 100
RUNS, MOST_RUNS = 1000, 10_000
"""Of a trend where nothing else is asked, and where all are asked."""
NEWEST = 4
"""Results by which it is seen that a cell has others than it had."""
MOST_BESIDE = 6
"""Flows, and kinds of machine, beside the first."""
HEADER = ("flow", "run", "started_at", "commit", "machine", "metric", "value", "alarm", "change")
USUAL = (SHORT["latency"], SHORT["error"], "seconds")
"""Metrics of which a cell's trend is drawn where none is asked for."""


Line = tuple[str, str]
"""A flow on a kind of machine: one line of the plot."""


class Between(msgspec.Struct, frozen=True):
    """A change of level: from the run before it to the run after, and the versions that differ between them."""

    flow: str
    machine: str
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
    window = _window(query)
    history = read_cell(site, case, flow, query.get("metric", ""), window)
    window = replace(history.window or window, machine=history.machine)
    if not history.names:
        raise UsageError(f"no run of {case} on {flow} is in this history")
    metric = SHORT.get(query.get("metric", ""), query.get("metric", "")) or history.metric
    machine = history.machine
    beside = _listed_names(query.get("beside", ""), ",", flow)
    machines_beside = _listed_names(query.get("machines", ""), ";", machine)
    lines = [*((name, machine) for name in beside), *((flow, name) for name in machines_beside)]
    others = {line: read_cell(site, case, line[0], metric, replace(window, machine=line[1])) for line in lines}
    shown_lines = _same_window({(flow, machine): history} | others, site, case, metric)
    trends, missing = _trends(shown_lines, case, metric)
    labels = label_lines([(curve.flow, curve.machine) for curve in trends])
    spreads = [_spread(shown_lines[curve.flow, curve.machine]) if _is_median(metric) else {} for curve in trends]
    shown = {"case": case, "flow": flow, "metric": metric, "machine": machine, "runs": query.get("runs", "")}
    shown |= {"beside": ",".join(beside), "machines": ";".join(machines_beside)}
    values = {
        "asked": shown | {"since": window.since, "until": window.until},
        "case": case,
        "flow": flow,
        "metric": metric,
        "metrics": history.names,
        "machine": machine,
        "machines": sorted(history.machines.keys() | {machine}),
        "machines_beside": machines_beside,
        "on_machines": machines(history, machine) if len(history.machines) > 1 else [],
        "beside": beside,
        "trends": trends,
        "missing": missing,
        "plot": plot(trends, labels, spreads),
        "changes": [between for curve in trends for between in _between(curve, shown_lines[curve.flow, curve.machine])],
        "newest": [(label, curve.flow, _listed(curve)) for label, curve in zip(labels, trends, strict=True)],
        "annotations": _annotations(site, case, {name for name, _ in shown_lines}),
        "elsewhere": 0 if machines_beside else sum(curve.elsewhere for curve in trends),
        "others": [name for name in _flows(site, case) if name not in {flow, *beside}],
        "runs": max(metric_history.window.runs for metric_history in shown_lines.values() if metric_history.window),
        "most_runs": MOST_RUNS,
        "earlier": any(metric_history.earlier for metric_history in shown_lines.values()),
    }
    data = {"trends": trends, "machines": values["on_machines"], "earlier": values["earlier"]}
    return Answer("trend.html.j2", values, data, HEADER, [row for curve in trends for row in _rows(curve)])


def _listed_names(text: str, sign: str, first: str) -> list[str]:
    """Those beside the first, each once."""
    return [name for name in dict.fromkeys(text.split(sign)) if name and name != first][:MOST_BESIDE]


def label_lines(lines: Sequence[Line]) -> list[str]:
    """The flow, with its machine where there are several."""
    several = len({machine for _, machine in lines}) > 1
    return [f"{flow} on {machine}" if several else flow for flow, machine in lines]


def _window(query: Mapping[str, str]) -> RunWindow:
    """A trend of thousands of runs takes as long as many pages: it is drawn where somebody asks for it."""
    runs = page_number(query.get("runs", "") or str(RUNS), "runs", MOST_RUNS)
    return RunWindow(
        runs, query.get("since", ""), query.get("until", ""), query.get("machine", ""), beside=NEWEST_BESIDE
    )


def read_cell(site: Site, case: str, flow: str, metric: str, window: RunWindow) -> MetricHistory:
    """Of that metric, or, where "" is asked or the cell has none of that name, of what is usual. Read once for each run that the cell
    has. A metric that the newest runs of a machine lack may be one of its earlier ones: `window` of the answer is the one that was read."""
    newest = tuple(site.store.cell_runs(case, flow, NEWEST))
    metric_asked = SHORT.get(metric, metric)
    metrics = (*((metric_asked,) if metric_asked else ()), *USUAL)
    metric_history = site.cells.get(
        (case, flow, metric_asked, newest, window), lambda: site.store.metric_history(case, flow, metrics, window)
    )
    has = metric_history.metric == metric_asked and any(
        point.machine == metric_history.machine for point in metric_history.points
    )
    if not metric_history.earlier or not metric_asked or has or window.runs == MOST_RUNS:
        return metric_history
    return read_cell(site, case, flow, metric, replace(window, runs=MOST_RUNS))


def _same_window(histories: dict[Line, MetricHistory], site: Site, case: str, metric: str) -> dict[Line, MetricHistory]:
    """Where earlier runs of one line were read, those of the others are, too: the page says one number of all."""
    windows = [metric_history.window for metric_history in histories.values() if metric_history.window]
    widest = max(windows, key=lambda window: window.runs)
    return {
        (flow, machine): metric_history
        if metric_history.window and metric_history.window.runs == widest.runs
        else read_cell(site, case, flow, metric, replace(widest, machine=machine))
        for (flow, machine), metric_history in histories.items()
    }


def _is_median(metric: str) -> bool:
    return metric == SHORT["latency"]


def _trends(shown_lines: Mapping[Line, MetricHistory], case: str, metric: str) -> tuple[list[Trend], list[str]]:
    """Those that there are, and a sentence for each line beside the first that has none."""
    trends, missing = [], []
    for (flow, machine), history in shown_lines.items():
        inside = [
            Observed(
                point.run, point.started_at, point.commit, point.machine, {history.metric: point.value}, history.stated
            )
            for point in history.points
        ]
        try:
            trends.append(trend_of(inside, case, flow, metric, machine, history.names, history.machines))
        except UsageError as error:
            if not trends:
                raise
            missing.append(str(error))
    return trends, missing


def _between(series: Trend, history: MetricHistory) -> list[Between]:
    versions = {point.run: history.versions[point.versions] for point in history.points} if series.changes else {}
    rows = []
    for change in series.changes:
        before, after = series.points[change.place - 1].run_id, series.points[change.place].run_id
        old, new = versions.get(before, {}), versions.get(after, {})
        differ = [(name, old.get(name, ""), new.get(name, "")) for name in sorted(old.keys() | new.keys())]
        rows.append(
            Between(
                series.flow,
                series.machine,
                change,
                before,
                after,
                tuple(difference for difference in differ if difference[1] != difference[2]),
            )
        )
    return rows


def _listed(series: Trend) -> list[tuple[Point, bool, bool]]:
    """The newest first, each with whether it is an alarm, and whether the level changed there."""
    changed = {change.place for change in series.changes}
    marked = [(point, place in series.alarms, place in changed) for place, point in enumerate(series.points)]
    return marked[: -LISTED - 1 : -1]


def _rows(series: Trend) -> list[tuple[object, ...]]:
    changed = {change.place for change in series.changes}
    return [
        (
            *(series.flow, point.run_id, point.started_at, point.commit, series.machine, series.metric, point.value),
            *(int(place in series.alarms), int(place in changed)),
        )
        for place, point in enumerate(series.points)
    ]


def _flows(site: Site, case: str) -> tuple[str, ...]:
    return site.store.matrix(CellQuery(case=case, exact=True), 0, 0, 0, 50).flows


def _annotations(site: Site, case: str, flows: Iterable[str]) -> dict[tuple[str, str], list[Annotation]]:
    """By flow and run."""
    by_flow_and_run: dict[tuple[str, str], list[Annotation]] = {}
    for flow in flows:
        for annotation in annotations_on(site, "", case, flow):
            by_flow_and_run.setdefault((flow, annotation.run), []).append(annotation)
    return by_flow_and_run


def _spread(history: MetricHistory) -> dict[str, tuple[float, ...]]:
    return {point.run: point.spread_ms for point in history.points if point.spread_ms}
