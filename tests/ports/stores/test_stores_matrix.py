"""A page of a matrix is what a look at every job would give, and does not look at every job."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import event, text, update

from assay.core.outcome import Outcome
from assay.core.result import AnyResult
from assay.judge.verdicts import judge
from assay.ports.browsing import RED, CellQuery
from assay.stores import matrix
from assay.stores import run_names as run_names_module
from assay.stores.copy_history import copy_history
from assay.stores.dashboard_queries import red
from assay.stores.history_tables import run_summary
from assay.stores.run_names import keep_run_names, run_names
from assay.stores.sql import SqlStore
from assay.testing.builders import make_comparison, make_job, make_result, make_run
from sqlite_steps import steps

RUNS = ("20260101", "20260102", "20260103")
CASES, FLOWS = [f"net{number:02}" for number in range(30)], [f"flow{number}" for number in range(9)]
ENDS = (Outcome.OK, Outcome.OK, Outcome.OK, Outcome.MISMATCH, Outcome.CRASH, Outcome.UNSUPPORTED)


def _results(seed: int) -> list[AnyResult]:
    """Of a third of all cells; some are measured, too."""
    chance = random.Random(seed)
    results: list[AnyResult] = []
    for case, flow in product(CASES, FLOWS):
        for kind in ("verify", "measure") if chance.random() < 0.3 else ():
            outcome = chance.choice(ENDS) if kind == "verify" else Outcome.OK
            plain = make_result(case, flow, kind, outcome=outcome)
            results.append(replace(plain, comparisons=(make_comparison(),)) if kind == "verify" else plain)
    return results


def _record(store: SqlStore, run_id: str, results: list[AnyResult], *, close: bool) -> None:
    run = make_run(run_id, tuple(make_job(result.case, result.flow, result.kind) for result in results))
    store.open_run(run)
    store.record(run_id, results)
    if close:
        planned = [job.key for job in run.jobs]
        store.close_run(run_id, "complete", judge(results, run.policy, planned=planned, today=date(2026, 1, 3)))


@pytest.fixture
def store(location: str) -> Any:
    """The last run is not judged yet."""
    with closing(SqlStore(location)) as store:
        for seed, run_id in enumerate(RUNS):
            _record(store, run_id, _results(seed), close=run_id != RUNS[-1])
        yield store


def _every_job(store: SqlStore, run: str) -> list[tuple[str, ...]]:
    """Case, flow, outcome and word."""
    named = 'SELECT state."case", state.flow, said.outcome, said.word FROM case_state AS state JOIN '
    of_run = "results AS said ON said.job = state.number JOIN runs ON runs.number = said.run WHERE runs.id = :run"
    now = "case_state AS said ON said.number = state.number"
    with store.reading() as connection:
        return [
            tuple(row)
            for row in connection.execute(text(named + (of_run if run else now)), {"run": run} if run else {})
        ]


def _is_asked(query: CellQuery, case: str, flow: str, outcome: str, word: str) -> bool:
    names = ((query.case, case), (query.flow, flow))
    return (
        all(part == name if query.exact and part else part.lower() in name for part, name in names)
        and query.outcome in ("", outcome)
        and (red(outcome, word) if query.word == RED else query.word in ("", word))
    )


def test_every_filter_gives_what_a_look_at_every_job_gives(store: SqlStore) -> None:
    asked = [
        CellQuery(run, case, flow, outcome, word, exact)
        for run in ("", RUNS[0], RUNS[-1])
        for case, flow, exact in (
            ("", "", False), ("NET1", "", False), ("", "w3", False), ("1", "3", False), ("net07", "flow2", True), ("", "flow4", True),
            ("nothing", "", False), ("flow", "", False), ("net", "flow", False),
        )
        for outcome, word in (
            ("", ""), ("ok", ""), ("mismatch", ""), ("timeout", ""), ("", RED), ("", "fail"), ("", "pass"), ("ok", "fail"),
        )
    ]  # fmt: skip
    rows = {run: _every_job(store, run) for run in ("", RUNS[0], RUNS[-1])}
    several = 0
    for query in asked:
        jobs = [job for job in rows[query.run] if _is_asked(query, *job)]
        cases, flows = (sorted({job[place] for job in jobs}) for place in (0, 1))
        several += len(cases) > 10
        page = store.matrix(query, 0, 50, 0, 50)
        assert (list(page.cases), list(page.flows)) == (cases, flows), query
        assert sorted((job.case, job.flow, job.outcome, job.word) for job in page.jobs) == sorted(jobs), query
        assert not page.more_cases
        assert not page.more_flows
        second = store.matrix(query, 5, 5, 2, 2)
        assert (list(second.cases), list(second.flows)) == (cases[5:10], flows[2:4]), query
        assert (second.more_cases, second.more_flows) == (len(cases) > 10, len(flows) > 4), query
    assert several > 20


def _kept(store: SqlStore, run_id: str) -> bool:
    with store.reading() as connection:
        number = connection.scalar(text("SELECT number FROM runs WHERE id = :run"), {"run": run_id})
        return (
            connection.scalar(
                run_summary.select().with_only_columns(run_summary.c.names).where(run_summary.c.run == number)
            )
            is not None
        )


def test_names_are_kept_with_a_verdict_and_forgotten_with_the_next_result(store: SqlStore, tmp_path: Path) -> None:
    assert [_kept(store, run_id) for run_id in RUNS] == [True, True, False]
    with closing(SqlStore(str(tmp_path / "copy.db"))) as copy:
        copy_history(store, copy, lambda *_: None)
        assert _kept(copy, RUNS[0])
        store.record(RUNS[0], [make_result("another", "flow0", outcome=Outcome.CRASH)])
        assert not _kept(store, RUNS[0])
        copy_history(store, copy, lambda *_: None)
        for each in (store, copy):
            assert "another" in each.matrix(CellQuery(run=RUNS[0], outcome="crash"), 0, 50, 0, 50).cases


def test_new_names_are_seen_at_once(store: SqlStore) -> None:
    before = store.matrix(CellQuery(), 0, 100, 0, 100)
    store.record(RUNS[-1], [make_result("another", "flow-more")])
    after = store.matrix(CellQuery(), 0, 100, 0, 100)
    assert (set(after.cases) - set(before.cases), set(after.flows) - set(before.flows)) == ({"another"}, {"flow-more"})


def _wide(path: Path, cases: int, flows: int) -> SqlStore:
    """A run of that many jobs, every tenth of which is a mismatch, put into the tables at once."""
    store = SqlStore(str(path))
    store.open_run(make_run(RUNS[0], ()))
    number = "WITH RECURSIVE up(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM up WHERE i < {} - 1) SELECT i FROM up"
    wrong = "CASE WHEN (c.i * 7 + f.i * 3) % 10 = 0 THEN"
    words = f"{wrong} 'mismatch' ELSE 'ok' END, {wrong} 'fail' ELSE 'pass' END"
    state = (
        'INSERT INTO case_state (job_key, "case", flow, kind, outcome, word, run, since, streak) '
        f"SELECT 'c' || c.i || '|f' || f.i, 'c' || c.i, 'f' || f.i, 'verify', {words}, 1, 1, 1 "
        f"FROM ({number.format(cases)}) AS c CROSS JOIN ({number.format(flows)}) AS f"
    )
    copied = "INSERT INTO results SELECT number, 1, number, outcome, word, 'compare', 0.1 FROM case_state"
    with store.engine.begin() as connection:
        for statement in (state, copied):
            connection.execute(text(statement))
        keep_run_names(connection, 1)
    return store


@pytest.mark.parametrize(
    "query",
    [
        CellQuery(), CellQuery(outcome="mismatch"), CellQuery(word=RED), CellQuery(word="pass"), CellQuery(flow="f7", exact=True),
        CellQuery(case="c1"),
    ],
)  # fmt: skip
def test_a_page_costs_as_many_steps_as_there_are_names(wide: tuple[SqlStore, SqlStore], query: CellQuery) -> None:
    """Ten times as many jobs: a page costs the same, and not ten times as much."""
    for run in ("", RUNS[0]):
        (few, _), (many, page) = (
            steps(store, partial(store.matrix, replace(query, run=run), 50, 50, 0, 8)) for store in wide
        )
        assert page.cases
        assert many < 3 * few + 30, (run, few, many)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The second one has ten times as many flows."""
    folder = tmp_path_factory.mktemp("wide")
    with closing(_wide(folder / "a.db", 300, 10)) as few, closing(_wide(folder / "b.db", 300, 100)) as many:
        yield few, many


@contextmanager
def _statements(store: SqlStore) -> Iterator[list[str]]:
    """What it asks its database meanwhile."""
    asked: list[str] = []

    def listen(*seen: Any) -> None:
        asked.append(seen[2])

    event.listen(store.engine, "before_cursor_execute", listen)
    try:
        yield asked
    finally:
        event.remove(store.engine, "before_cursor_execute", listen)


def test_a_filter_of_a_run_looks_at_no_job_that_it_does_not_show(wide: tuple[SqlStore, SqlStore]) -> None:
    """Many flows are asked for by a part of their name, and an outcome that none of the jobs has that were asked for: it is what the bits
    of the cells say. Where they were not kept each cell is looked at."""
    _, many = wide
    for query in (
        CellQuery(run=RUNS[0], flow="1", outcome="mismatch", case="c11"),
        CellQuery(run=RUNS[0], flow="f", word="fail"),
        CellQuery(run=RUNS[0], case="c1", word="pass"),
    ):
        with _statements(many) as asked:
            kept = many.matrix(query, 0, 50, 0, 8)
        assert not any("json_each" in statement for statement in asked), "names are looked up job by job"
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(matrix, "run_cell_rows", lambda *_: None)
            looked_up = many.matrix(query, 0, 50, 0, 8)
        assert list(kept.cases) == list(looked_up.cases)
        assert list(kept.flows) == list(looked_up.flows)
        assert sorted(map(str, kept.jobs)) == sorted(map(str, looked_up.jobs))


@pytest.mark.parametrize("most", [0, run_names_module.MOST_CELLS])
def test_a_run_of_too_many_cells_keeps_its_names_alone(
    location: str, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(run_names_module, "MOST_CELLS", most)
    with closing(SqlStore(location)) as store:
        _record(store, RUNS[0], _results(1), close=True)
        with store.reading() as connection:
            names = run_names(connection, 1)
            rows = run_names_module.run_cell_rows(connection, 1, names, None)
        assert names.cells == len({(result.case, result.flow) for result in _results(1)})
        assert (rows is None) == (most == 0)
        page = store.matrix(CellQuery(RUNS[0], flow="flow1", outcome="mismatch"), 0, 50, 0, 50)
        assert {job.outcome for job in page.jobs} == {"mismatch"}


def test_a_run_without_kept_names_is_collected(store: SqlStore) -> None:
    with store.engine.begin() as connection:
        kept = run_names(connection, 1)
        connection.execute(update(run_summary).values(names=None))
        assert run_names(connection, 1) == replace(kept, cells=-1)
