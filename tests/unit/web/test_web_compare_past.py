"""The values of earlier runs beside a change: as many as are shown, of runs further back where the nearest lack them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.pipeline.past_runs.run_changes import PAST_RUNS
from assay.stores.sql import SqlStore
from assay.testing.builders import make_comparison, make_result, make_run
from assay.web.compare import compare
from assay.web.compare_past import LOOKED_AT
from assay.web.site import Site

WHOLE = RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0)


def test_values_come_from_as_many_runs_as_are_needed(tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        for number in range(LOOKED_AT + 2):
            run = make_run(f"202601{number + 1:02}")
            store.open_run(run)
            comparison = (make_comparison(budget_used=0.01 * number),)
            seldom = number % 2 or number > LOOKED_AT - 1  # both of the runs that are compared have it
            cells = ("often", "seldom") if seldom else ("often",)
            store.record(run.id, [make_result(cell, comparisons=comparison) for cell in cells])
            store.close_run(run.id, "complete", WHOLE)
        changes = compare(Site(store, tmp_path), {"run": run.id}).data.changes
    past = {
        cell.case: next(delta.past for delta in cell.deltas if delta.metric == "budget_used") for cell in changes.cells
    }
    hidden = [delta for cell in changes.cells for delta in cell.deltas if delta.metric == "scores.max_abs"]
    assert len(hidden) == 2
    assert not any(delta.past for delta in hidden), "no line shows it"
    newest = LOOKED_AT + 1
    assert past["often"] == tuple(0.01 * number for number in range(newest - PAST_RUNS, newest))
    assert past["seldom"] == tuple(0.01 * number for number in range(1, newest) if number % 2 or number == LOOKED_AT)
