"""The values of earlier runs beside a change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from assay.core.changes import CellChange
from assay.core.run import Run
from assay.judge.changes import is_of_a_batch
from assay.pipeline.past_runs.run_changes import PAST_RUNS
from assay.ports import RunSearch
from assay.ports.browsing import RunMetrics
from assay.reports.changes import shown_metrics
from assay.web.site import Site

_BATCH = re.compile(r"latency\.batch(\d+)\.")


TIMED = "latency.median_ms"
LOOKED_AT = 20
"""Runs back in the history among which values are looked for."""


def with_past(site: Site, run: Run, cells: Sequence[CellChange]) -> tuple[CellChange, ...]:
    """Each metric that a page shows with its values in the runs before, oldest first. Latency and throughput only of runs that timed the
    same batch."""
    earlier = [run_summary.id for run_summary in site.store.runs(LOOKED_AT, RunSearch(before=run.id))]
    batch = {(cell.case, cell.flow): cell.batches[1] for cell in cells if cell.deltas}
    metrics = {metric for cell in cells for metric in shown_metrics(cell)}
    seen: dict[tuple[str, str], dict[str, dict[str, float]]] = {cell: {} for cell in batch}
    # Most often the first runs have all that is wanted, and those before them are not read.
    for some in (earlier[:PAST_RUNS], earlier[PAST_RUNS:]):
        missing = [(cell.case, cell.flow) for cell in cells if _is_short(cell, seen.get((cell.case, cell.flow), {}))]
        for metric in site.store.run_metrics(some, missing, metrics) if some and missing else ():
            of_run = seen[metric.case, metric.flow]
            # What several jobs record is that of the first.
            of_run[metric.run] = {**_comparable(metric, batch[metric.case, metric.flow]), **of_run.get(metric.run, {})}
    oldest_first = {cell: [runs[name] for name in sorted(runs)] for cell, runs in seen.items()}
    return tuple(_with_values(cell, oldest_first.get((cell.case, cell.flow), [])) for cell in cells)


def _is_short(cell: CellChange, runs: Mapping[str, Mapping[str, float]]) -> bool:
    """A metric of it has fewer values than are shown."""
    shown = shown_metrics(cell)
    return any(sum(metric in run for run in runs.values()) < PAST_RUNS for metric in shown)


def _with_values(cell: CellChange, past: Sequence[dict[str, float]]) -> CellChange:
    values = {
        delta.metric: tuple(run[delta.metric] for run in past if delta.metric in run)[-PAST_RUNS:]
        for delta in cell.deltas
    }
    return replace(cell, deltas=tuple(replace(delta, past=values[delta.metric]) for delta in cell.deltas))


def _comparable(metric: RunMetrics, batch: int) -> dict[str, float]:
    """Without those that are of another batch."""
    if TIMED not in metric.names or _smallest_batch(metric.names) == batch:
        return metric.metrics
    return {name: value for name, value in metric.metrics.items() if not is_of_a_batch(name)}


@lru_cache(1024)
def _smallest_batch(metrics: tuple[str, ...]) -> int:
    """That was timed; 0 where none was. Most results have the same names."""
    return min((int(match[1]) for name in metrics if (match := _BATCH.match(name))), default=0)
