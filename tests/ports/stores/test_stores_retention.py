"""Old samples go, and what was made of them stays."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.commands.composition import open_services
from assay.commands.retention import prune_history
from assay.core.measurement import Measurement
from assay.core.outcome import Outcome
from assay.core.result import MeasureResult, Result
from assay.errors import UsageError
from assay.judge.named_metrics import metrics
from assay.pipeline.kept_files.retention import prune, without_samples
from assay.stores import retention
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run
from assay.testing.standard_run import standard_run

NOW = datetime(2026, 11, 26, tzinfo=UTC)
OLD, NEW, CUT = "20260101T000000-old", "20261125T000000-new", "20260102T000000-cut"


def _measured(case: str, count: int) -> MeasureResult:
    seconds = tuple(0.001 + 1e-6 * number for number in range(count))
    taken = Measurement(1, seconds, seconds, warmup_s=seconds[:3]), Measurement(8, seconds[::-1], seconds)
    plain = make_result(case, kind="measure")
    assert isinstance(plain, MeasureResult)
    return replace(plain, outcome=Outcome.OK, measurements=taken)


def _fill(store: SqlStore) -> dict[str, list[Result]]:
    _, _, judgement = standard_run()
    known: dict[str, list[Result]] = {}
    for run_id in (OLD, CUT, NEW):
        day = f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}T00:00:00+00:00"
        store.open_run(make_run(run_id, started_at=day))
        known[run_id] = [_measured(f"case-{number}", 100) for number in range(5)] + [make_result("verified")]
        store.record(run_id, known[run_id])
        if run_id != CUT:
            store.close_run(run_id, "complete", judgement)
    return known


def test_samples_of_old_runs_go_and_every_metric_stays(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_ROWS", 2)
    with closing(SqlStore(location)) as store:
        known = _fill(store)
        assert store.roll_up("2026-06-01T00:00:00+00:00", without_samples) == 5
        old = store.results(OLD)
        assert all(
            not measurement.wall_s
            for result in old
            if isinstance(result, MeasureResult)
            for measurement in result.measurements
        )
        assert [metrics(result) for result in old] == [metrics(result) for result in known[OLD]]
        assert (store.results(NEW), store.results(CUT)) == (known[NEW], known[CUT])
        assert store.roll_up("2026-06-01T00:00:00+00:00", without_samples) == 0


def test_files_of_old_runs_go(tmp_path: Path) -> None:
    with open_services(str(tmp_path / "h")) as services:
        for kind in ("logs", "traces", "candidates"):
            for run_id in (OLD, NEW):
                (services.folder / kind / run_id).mkdir(parents=True)
        (services.folder / "baselines" / OLD).mkdir(parents=True)
        assert prune(services, samples_weeks=0, files_weeks=8, now=NOW).runs == 1
        left = sorted(path.relative_to(services.folder).as_posix() for path in services.folder.glob("*/2026*"))
    assert left == [f"baselines/{OLD}", f"candidates/{NEW}", f"logs/{NEW}", f"traces/{NEW}"]


def test_how_long_is_said_by_the_file_or_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqlStore(str(tmp_path / ".assay" / "history.db"))) as store:
        _fill(store)
    with pytest.raises(UsageError, match="everything is kept for ever: give --samples-weeks"):
        prune_history(".assay", samples_weeks=None, files_weeks=None)
    Path("assay.toml").write_text("[retention]\nsamples-weeks = 20\n")
    assert prune_history(".assay", samples_weeks=0, files_weeks=4).samples == 0
    assert prune_history(".assay", samples_weeks=None, files_weeks=None).samples == 5
