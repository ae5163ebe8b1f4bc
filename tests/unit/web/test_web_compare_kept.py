"""What is kept of a comparison is that of runs that do not go on."""

from __future__ import annotations

from pathlib import Path

from assay.core.result import Result
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_measurement, make_result, make_run
from assay.web.compare import compare
from assay.web.site import Cache, Site

JOBS = (make_job("net", "onnxruntime", "verify"), make_job("net", "onnxruntime", "measure"))
WELL = RunVerdict((), Verdict(VerdictStatus.PASS, "PASS"), 0)


def _measured(seconds: float) -> list[Result]:
    return [make_result("net", "onnxruntime", "measure", measurements=(make_measurement(median_s=seconds),))]


def test_an_old_run_that_is_resumed_is_read_again(tmp_path: Path) -> None:
    store = SqlStore(str(tmp_path / "history.db"))
    try:
        old, new = (make_run(f"2026112{day}T080000-aaaaaa", JOBS) for day in (1, 2))
        for run in (old, new):
            store.open_run(run)
            store.record(run.id, [make_result("net", "onnxruntime", "verify")])
        store.record(new.id, _measured(0.002))
        store.close_run(old.id, "interrupted", WELL)
        store.close_run(new.id, "complete", WELL)
        site = Site(store, tmp_path, moving=Cache(-1.0))

        def shown() -> set[str]:
            changes = compare(site, {"run": new.id, "to": old.id}).values["found"].changes
            return {delta.metric for cell in changes.cells for delta in cell.deltas if delta.old is not None}

        assert "latency.median_ms" not in shown()
        store.record(old.id, _measured(0.001))
        store.close_run(old.id, "complete", WELL)
        assert "latency.median_ms" in shown()
    finally:
        store.close()
