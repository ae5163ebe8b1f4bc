"""A run of a machine whose clock is ahead is told of, wherever it would stand for the present."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.commands.check import run_check
from assay.options.check import CheckOptions
from assay.pipeline.past_runs.clock_ahead import TOLERATED, clock_ahead
from assay.ports import RunSummary
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run
from assay.web.app import make_app
from assay.web.site import Site
from small_models import linear_model

pytestmark = pytest.mark.usefixtures("warm_workers")

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


def _newest(store: SqlStore) -> RunSummary:
    return next(iter(store.runs(1)))


@pytest.mark.parametrize(
    ("began", "said"),
    [
        ((NOW - timedelta(days=1)).isoformat(), ""),
        ((NOW + TOLERATED - timedelta(seconds=1)).isoformat(), ""),
        ((NOW + timedelta(days=2, hours=3)).isoformat(), "2 days, 3:00:00"),
        ("2026-11-27T11:00:00", "1:00:00"),
        ("2026-11-27T11:00:00+09:00", ""),
        ("some day", ""),
    ],
)
def test_only_a_clock_that_is_ahead_is_told(began: str, said: str, tmp_path: Path) -> None:
    assert clock_ahead(None, NOW) == ""
    with closing(SqlStore(str(tmp_path / "h.db"))) as store:
        store.open_run(make_run("20300101T000000-aaaaaa", started_at=began))
        sentence = clock_ahead(_newest(store), NOW)
    assert (said in sentence) if said else (sentence == "")


def test_a_check_and_the_first_page_tell_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    linear_model(tmp_path / "m.onnx")
    (tmp_path / ".assay").mkdir()
    options = CheckOptions(models=(Path("m.onnx"),), flows=("onnxruntime",), only_kind="verify", workers=1)
    assert run_check(options).notes == ()
    with closing(SqlStore(".assay/history.db")) as store:
        page = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
        assert "is ahead of this machine" not in page.get("/").text
        ahead = (datetime.now(UTC) + timedelta(days=400)).isoformat(timespec="seconds")
        store.open_run(make_run("20990101T000000-aaaaaa", started_at=ahead))
        store.record("20990101T000000-aaaaaa", [make_result("a")])
        other = TestClient(make_app(Site(store, tmp_path), {"testserver"}))
        assert "20990101T000000-aaaaaa, is ahead of this machine" in other.get("/").text
    (note,) = run_check(options).notes
    assert "one of the two clocks is wrong" in note
