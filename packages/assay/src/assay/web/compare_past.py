"""The values of earlier runs beside a change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from assay.core.changes import CellChange
from assay.core.run import Run
from assay.judge.changes import is_of_a_batch
from assay.pipeline.run_changes import PAST_RUNS
from assay.ports import RunSearch
from assay.web.site import Site

_BATCH = re.compile(r"latency\.batch(\d+)\.")


LOOKED_AT = 30
"""Runs back in the history among which values are looked for."""


def with_past(site: Site, run: Run, cells: Sequence[CellChange]) -> tuple[CellChange, ...]:
    """Each metric with its values in the runs before, oldest first. Latency and throughput only of runs that timed
    the same batch."""
    earlier = sorted(one.id for one in site.store.runs(LOOKED_AT, RunSearch(before=run.id)))
    past: dict[tuple[str, str, str], list[float]] = {}
    batch = {(cell.case, cell.flow): cell.batches[1] for cell in cells}
    seen: set[tuple[str, str, str, str]] = set()
    for one in site.store.run_metrics(earlier, list(batch)):
        cell = (one.case, one.flow)
        timed = _smallest_batch(one.metrics)
        other = timed != 0 and timed != batch[cell]
        for name, value in one.metrics.items():
            if (one.run, *cell, name) not in seen and not (other and is_of_a_batch(name)):
                seen.add((one.run, *cell, name))
                past.setdefault((*cell, name), []).append(value)
    return tuple(
        replace(
            cell,
            deltas=tuple(
                replace(one, past=tuple(past.get((cell.case, cell.flow, one.metric), ())[-PAST_RUNS:]))
                for one in cell.deltas
            ),
        )
        for cell in cells
    )


def _smallest_batch(metrics: Iterable[str]) -> int:
    """That was timed; 0 where none was."""
    return min((int(found[1]) for name in metrics if (found := _BATCH.match(name))), default=0)
