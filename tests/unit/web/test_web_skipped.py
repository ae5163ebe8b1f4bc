"""A pass says how many jobs were skipped: they prove nothing."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.core.outcome import Outcome
from assay.core.result import AnyResult
from assay.judge.verdicts import judge
from assay.stores.sql import SqlStore
from assay.testing.builders import make_comparison, make_job, make_result, make_run
from assay.web.address import address
from assay.web.app import make_app
from assay.web.badge import AT_ONCE
from assay.web.site import Site
from dashboard_history import WELL, skipped_history


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (address("/badge.svg"), "<title>assay: passing, 9 skipped</title>"),
        (address("/badge.svg", case=WELL), "<title>assay: passing, 3 skipped</title>"),
        (address("/badge.svg", flow="onnxruntime"), "<title>assay: passing</title>"),
        (address("/badge.svg", flow="tvm"), "<title>assay: 3 jobs skipped</title>"),
        ("/", "Every newest result is well, and 9 jobs were skipped."),
        ("/", "3 passed, 0 failed, 9 skipped"),
    ],
)
def test_a_pass_says_how_many_jobs_were_skipped(tmp_path: Path, path: str, words: str) -> None:
    history = skipped_history(tmp_path)
    with open_to_read(history) as store, TestClient(make_app(Site(store, Path(history)), {"testserver"})) as client:
        assert words in client.get(path).text


def _recorded(folder: Path, results: list[AnyResult]) -> str:
    """The history of a run with these results, judged by a policy that says nothing."""
    run = make_run("20260101", tuple(make_job(result.case, result.flow) for result in results))
    with closing(SqlStore(str(folder / "history.db"))) as store:
        store.open_run(run)
        store.record(run.id, results)
        planned = [job.key for job in run.jobs]
        store.close_run(run.id, "complete", judge(results, run.policy, planned=planned, today=date(2026, 1, 1)))
    return str(folder)


def _shown(history: str, path: str) -> str:
    with open_to_read(history) as store, TestClient(make_app(Site(store, Path(history)), {"testserver"})) as client:
        return client.get(path).text


@pytest.mark.parametrize(
    ("count", "words"), [(1, "The only job was skipped, and a"), (2, "All 2 jobs were skipped, and a")]
)
def test_nothing_but_skips_is_not_clear(tmp_path: Path, count: int, words: str) -> None:
    skipped = [make_result("net", f"flow{number}", outcome=Outcome.UNSUPPORTED) for number in range(count)]
    history = _recorded(tmp_path, skipped)
    page = _shown(history, "/")
    assert ("<h1>Nothing proven</h1>" in page, "Clear" in page, words in page) == (True, False, True)
    assert f"<title>assay: {count} skipped</title>" in _shown(history, "/badge.svg")
    assert '"answer":"skip"' in _shown(history, "/api/v1/now")


@pytest.mark.parametrize("axis", ["case", "flow"])
def test_a_badge_looks_at_every_job(tmp_path: Path, axis: str) -> None:
    """The one that fails is the last of more than are read together."""
    names = [f"n{number:04}" for number in range(AT_ONCE + 1)]
    cells = [("net", name) if axis == "case" else (name, "flow") for name in names]
    results = [make_result(*cell, comparisons=(make_comparison(),)) for cell in cells]
    results[-1] = make_result(*cells[-1], outcome=Outcome.CRASH)
    history = _recorded(tmp_path, results)
    asked = {axis: "net" if axis == "case" else "flow"}
    assert "<title>assay: 1 job failed</title>" in _shown(history, address("/badge.svg", **asked))


def test_a_first_run_has_nothing_to_compare_with(tmp_path: Path) -> None:
    page = _shown(_recorded(tmp_path, [make_result("net", comparisons=(make_comparison(),))]), "/compare")
    assert "<h1>Nothing to compare</h1>" in page
    assert 'href="/runs"' in page
