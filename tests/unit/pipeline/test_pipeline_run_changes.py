"""The figures of the runs before, for a trend."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from assay.core.result import Result
from assay.judge.changes import cell_changes
from assay.pipeline.run_changes import with_past
from assay.pipeline.services import Services
from assay.testing.builders import make_measurement, make_result, make_run


def _timed(batch: int) -> list[Result]:
    return [make_result("m", "f", kind="measure", measurements=(make_measurement(batch),))]


def test_a_trend_has_no_latency_of_another_batch() -> None:
    before = {"a": _timed(8), "b": _timed(1), "c": _timed(1)}
    store = SimpleNamespace(
        runs=lambda limit: [SimpleNamespace(id=run_id) for run_id in reversed(before)],
        results=lambda run, jobs: before[run],
    )
    found = with_past(
        cell_changes(_timed(1), _timed(1)), (), make_run(id="d"), cast(Services, SimpleNamespace(store=store))
    )
    past = {delta.metric: len(delta.past) for cell in found for delta in cell.deltas}
    assert past["latency.median_ms"] == 2
    assert past["latency.batch1.median_ms"] == 2
