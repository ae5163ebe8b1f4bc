"""What the dashboard asks, on either database: the same of both, and nothing is written."""

from __future__ import annotations

import pytest

from assay.core.outcome import Outcome
from assay.errors import RunNotFound, StoreError
from assay.ports import Browsable, CellQuery
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from dashboard_history import CASES, FLAKY, FLOWS, GREEN, HOSTILE, RED, RUNS, UNDECIDED, WELL, fill_history, run_id
from databases import location, postgresql, postgresql_of_language, postgresql_server

__all__ = ["location", "postgresql", "postgresql_of_language", "postgresql_server"]


def test_a_history_is_browsed(location: str) -> None:
    written = SqlStore(location)
    fill_history(written)
    written.close()
    store = SqlStore(location, read_only=True)
    try:
        assert isinstance(store, Browsable)
        _standing(store)
        _matrix(store)
        _cells(store)
        assert [(job.case, line) for job, line in store.said("60 S", 100, 9)] == [(FLAKY, "60 s are over")]
        with pytest.raises(StoreError):
            store.open_run(store.run_facts("last"))
    finally:
        store.close()


def test_the_newest_run_of_each_branch(location: str) -> None:
    store = SqlStore(location)
    try:
        for number, branch in enumerate(("main", "fix", "main", "")):
            store.open_run(make_run(run_id(number), branch=branch))
        assert [(row.branch, row.id) for row in store.branches(9)] == [("main", run_id(2)), ("fix", run_id(1))]
        assert [row.branch for row in store.branches(1)] == ["main"]
    finally:
        store.close()


def test_what_stands_is_the_same_in_a_database_that_sorts_as_a_language_does(postgresql_of_language: str) -> None:
    store = SqlStore(postgresql_of_language)
    try:
        names = ("a", "B", "_c")
        jobs = tuple(make_job(name) for name in names)
        store.open_run(make_run(run_id(0), jobs))
        store.record(run_id(0), [make_result(name, outcome=Outcome.MISMATCH) for name in names])
        first = store.standing(days=7.0, looked_at=30, limit=1)
        assert ([count.case for count in first.of_cases], [job.case for job in first.red]) == (["B"], ["B"])
    finally:
        store.close()


def _standing(store: SqlStore) -> None:
    standing = store.standing(days=7.0, looked_at=30, limit=25)
    assert standing.recent == run_id(RUNS - 8)
    assert {cell.case for cell in standing.red} == {RED, FLAKY, HOSTILE}
    assert {cell.case for cell in standing.newly_red} == {RED, FLAKY}
    assert {(cell.case, cell.flow) for cell in standing.newly_green} == {(GREEN, flow) for flow in FLOWS}
    assert {cell.case for cell in standing.inconclusive} == {UNDECIDED}
    assert [(cell.case, cell.turns, cell.results) for cell in standing.turning] == [(FLAKY, RUNS - 1, RUNS)]
    assert sum(count.jobs for count in standing.counts) == len(FLOWS) * (len(CASES) + 1)
    assert standing.cases == len(CASES) == len({count.case for count in standing.of_cases})
    assert sum(count.jobs for count in standing.of_cases) == len(FLOWS) * (len(CASES) + 1)
    worst = store.standing(days=7.0, looked_at=30, limit=4)
    assert {count.case for count in worst.of_cases} == {RED, FLAKY, HOSTILE, UNDECIDED}, (
        "red ones first, then undecided"
    )
    assert worst.cases == len(CASES)
    whole = store.standing(days=365.0, looked_at=30, limit=99)  # what has never been otherwise is not new
    assert {cell.case for cell in whole.newly_red} == {RED, FLAKY}
    assert {cell.case for cell in whole.newly_green} == {GREEN}
    assert len(store.standing(days=0.5, looked_at=30, limit=25).newly_red) == 2
    assert not store.standing(days=7.0, looked_at=1, limit=25).turning
    assert len(store.standing(days=7.0, looked_at=30, limit=1).red) == 1


def _matrix(store: SqlStore) -> None:
    whole = store.matrix(CellQuery(), 0, 50, 0, 8)
    assert (set(whole.cases), whole.flows) == (set(CASES), FLOWS)
    assert len(whole.jobs) == len(FLOWS) * (len(CASES) + 1)
    pages = [store.matrix(CellQuery(), first, 4, 0, 2) for first in (0, 4, 8)]
    assert [page.more_cases for page in pages] == [True, False, False]
    assert [name for page in pages for name in page.cases] == list(whole.cases)
    assert pages[0].more_flows
    then = store.matrix(CellQuery(run=run_id(0), outcome="crash"), 0, 50, 0, 8)
    assert then.cases == (GREEN,)
    assert {job.word for job in then.jobs} == {"fail"}
    assert store.matrix(CellQuery(run="last", word="fail", flow="TVM"), 0, 50, 0, 8).flows == ("tvm",)
    assert store.matrix(CellQuery(case=WELL[:4]), 0, 50, 0, 8).cases == (WELL,)
    assert store.matrix(CellQuery(case=WELL[:4], exact=True), 0, 50, 0, 8).cases == ()
    assert store.matrix(CellQuery(case="%"), 0, 50, 0, 8).cases == ()
    with pytest.raises(RunNotFound):
        store.matrix(CellQuery(run="2099"), 0, 50, 0, 8)


def _cells(store: SqlStore) -> None:
    run, results = store.cell("", WELL, "tvm")
    assert run.id == run_id(RUNS - 1)
    assert (
        [job.key for job in run.jobs]
        == [result.job_key for result in results]
        == [f"{WELL}|tvm|verify", f"{WELL}|tvm|measure"]
    )
    earlier, _ = store.cell(run_id(3), WELL, "tvm")
    assert (earlier.id, earlier.status) == (run_id(3), "complete")
    assert store.run_facts(run_id(3)).jobs == ()
    assert [row.run for row in store.cell_runs(RED, "tvm", 3)] == [run_id(RUNS - n) for n in (1, 2, 3)]
    for missing in (("", "nobody", "tvm"), (run_id(3), WELL, "nobody")):
        with pytest.raises(RunNotFound):
            store.cell(*missing)
