"""The first page says what a look at every job would say, and does not look at every job."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from assay.core.outcome import Outcome
from assay.core.result import AnyResult
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.ports.browsing import JobState
from assay.stores import ingest
from assay.stores.connect import ALONE, connect
from assay.stores.dashboard_queries import red
from assay.stores.schema import _migrate
from assay.stores.sql import SqlStore
from assay.stores.state_counts import add_up, flow_counts
from assay.testing.builders import make_result, make_run
from sqlite_steps import steps

RUNS = [f"202601{day:02}" for day in range(1, 13)]
LATE = RUNS[4]
"""Written after all others."""
ENDS = (*(Outcome.OK,) * 6, Outcome.MISMATCH, Outcome.CRASH, Outcome.UNSUPPORTED)


def _record(store: SqlStore, run_id: str, chance: random.Random) -> None:
    """Of most cells."""
    results: list[AnyResult] = [
        make_result(f"net{case}", f"flow{flow}", outcome=chance.choice(ENDS))
        for case in range(12)
        for flow in range(4)
        if chance.random() < 0.7
    ]
    store.open_run(make_run(run_id, started_at=f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:]}T00:00:00+00:00"))
    store.record(run_id, results)
    if chance.random() < 0.8:
        words = [Verdict(chance.choice(list(VerdictStatus)), "", result.job_key) for result in results]
        store.close_run(run_id, "complete", RunVerdict(tuple(words), Verdict(VerdictStatus.PASS, ""), 0))


def _once_not_ok(store: SqlStore) -> dict[str, list[str]]:
    """The ids of the runs in which a job was not ok."""
    query = "SELECT job_key, runs.id FROM results JOIN case_state ON case_state.number = job JOIN runs ON runs.number = results.run "
    runs: dict[str, list[str]] = {}
    with store.reading() as connection:
        for key, run in connection.execute(text(query + "WHERE results.outcome <> 'ok'")):
            runs.setdefault(key, []).append(run)
    return runs


def test_every_list_and_count_is_that_of_a_look_at_every_job(location: str) -> None:
    chance = random.Random(3)
    with closing(SqlStore(location)) as store:
        for run in (*(run for run in RUNS if run != LATE), LATE):
            _record(store, run, chance)
        whole, some = (store.standing(days=4.0, looked_at=30, limit=limit) for limit in (999, 5))
        states, not_ok = store.states(), _once_not_ok(store)
        newest_first = sorted(states, key=lambda state: state.job_key)
        newest_first.sort(key=lambda state: state.since, reverse=True)

    def listed(asked: Any) -> list[JobState]:
        return [state for state in newest_first if asked(state)]

    def is_red(state: JobState) -> bool:
        return red(state.outcome, state.word)

    expected = {
        "red": listed(is_red),
        "newly_red": listed(lambda state: is_red(state) and state.since >= whole.recent and state.last_ok),
        "newly_green": listed(
            lambda state: (
                state.outcome == "ok"
                and not is_red(state)
                and state.since >= whole.recent
                and any(run < state.since for run in not_ok.get(state.job_key, []))
            )
        ),
        "inconclusive": listed(lambda state: state.word == "inconclusive"),
    }
    for name, its in expected.items():
        assert len(its) > 1, name
        assert (list(getattr(whole, name)), list(getattr(some, name))) == (its, its[:5]), name
    flows, cases = (
        Counter((getattr(state, axis), state.outcome, state.word) for state in states) for axis in ("flow", "case")
    )
    assert {(count.flow, count.outcome, count.word): count.jobs for count in whole.counts} == dict(flows)
    assert {(count.case, count.outcome, count.word): count.jobs for count in whole.of_cases} == dict(cases)
    assert (whole.cases, some.cases) == (12, 12)


def _counted(store: SqlStore, axis: str) -> Counter[tuple[str, ...]]:
    """By a look at every job."""
    query = f'SELECT "{axis}", outcome, word, count(*) FROM case_state GROUP BY "{axis}", outcome, word'
    with store.reading() as connection:
        return Counter({tuple(row[:3]): row[3] for row in connection.execute(text(query)).all()})


def test_counts_are_right_while_many_write_the_same_jobs(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads between two of their transactions, and whoever adds up beside them."""
    monkeypatch.setattr(ingest, "_ADD_UP_EVERY", 40)

    def write(number: int) -> None:
        with closing(SqlStore(location)) as writer:
            for run in RUNS[number::4]:
                _record(writer, run, random.Random(int(run)))

    with closing(SqlStore(location)) as store:
        threads = [Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        seen = 0
        while any(thread.is_alive() for thread in threads):
            with store.reading() as connection:
                counts = flow_counts(connection)
            assert sum(count.jobs for count in counts) <= 48
            assert min((count.jobs for count in counts), default=1) > 0
            seen += 1
        for thread in threads:
            thread.join()
        whole = store.standing(days=4.0, looked_at=30, limit=99)
        assert {(count.flow, count.outcome, count.word): count.jobs for count in whole.counts} == _counted(
            store, "flow"
        )
        assert {(count.case, count.outcome, count.word): count.jobs for count in whole.of_cases} == _counted(
            store, "case"
        )
    assert seen


def _rows_read(connection: Connection, statement: str, values: Any) -> float:
    """What the scans of a statement read of the present state, as PostgreSQL counts it."""
    (plan,) = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
    nodes, rows = [plan["Plan"]], 0.0
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if node.get("Relation Name") == "case_state":
            rows += node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
    return rows


def test_on_postgresql_the_first_page_looks_at_few_jobs(postgresql: str) -> None:
    """By what the database says it read: not one row for each job."""
    with closing(SqlStore(postgresql)) as store:
        store.open_run(make_run(RUNS[0], ()))
        state = (
            "INSERT INTO case_state (job_key, \"case\", flow, kind, outcome, word, run, since, streak) SELECT c || '|' || f, "
            "'c' || c, 'f' || f, 'verify', 'ok', 'pass', 1, 1, 1 FROM generate_series(1, 200) AS c, generate_series(1, 100) AS f"
        )
        with store.engine.begin() as connection:
            connection.execute(text(state))
            add_up(connection)
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        asked: list[tuple[str, Any]] = []
        event.listen(store.engine, "before_cursor_execute", lambda *seen: asked.append((seen[2], seen[3])))
        standing = store.standing(days=7.0, looked_at=30, limit=25)
        assert sum(count.jobs for count in standing.counts) == 20_000
        with store.reading() as connection:
            rows = sum(
                _rows_read(connection, *query)
                for query in list(asked)
                if query[0].lstrip().startswith(("SELECT", "WITH"))
            )
    assert rows < 5000, rows


def _wide(path: Path, flows: int) -> SqlStore:
    """300 cases, each on so many flows, put into the tables at once: in the first run a tenth was a mismatch; in the second another tenth
    is, and a tenth went the other way. Before them is a run of another job."""
    store = SqlStore(str(path))
    store.open_run(make_run("20251231", ()))
    store.record("20251231", [make_result("other", "f0", outcome=Outcome.CRASH)])
    for run in RUNS[:2]:
        store.open_run(make_run(run, ()))
    number = "WITH RECURSIVE up(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM up WHERE i < {} - 1) SELECT i FROM up"
    part = "(c.i * 7 + f.i * 3) % 10"
    state = (
        'INSERT INTO case_state (job_key, "case", flow, kind, outcome, word, run, since, streak, last_ok, was_not_ok) '
        f"SELECT 'c' || c.i || '|f' || f.i, 'c' || c.i, 'f' || f.i, 'verify', CASE {part} WHEN 0 THEN 'mismatch' ELSE 'ok' END, "
        f"CASE {part} WHEN 0 THEN 'fail' WHEN 1 THEN 'inconclusive' ELSE 'pass' END, 3, CASE WHEN {part} IN (0, 2) THEN 3 ELSE 2 END, 1, "
        f"CASE {part} WHEN 0 THEN 2 ELSE 3 END, {part} IN (0, 2) FROM ({number.format(300)}) AS c CROSS JOIN ({number.format(flows)}) AS f"
    )
    past = (
        "INSERT INTO results (run, job, outcome, word, stage, seconds) SELECT {0}, number, {1}, 'pass', 'compare', 0.1 FROM case_state "
        "WHERE number > 1"
    )
    turned = "CASE WHEN since = 2 THEN outcome WHEN outcome = 'ok' THEN 'mismatch' ELSE 'ok' END"
    with store.engine.begin() as connection:
        for statement in (state, past.format(2, turned), past.format(3, "outcome")):
            connection.execute(text(statement))
    return store


def test_the_first_page_costs_the_same_with_ten_times_as_many_jobs(tmp_path: Path) -> None:
    with closing(_wide(tmp_path / "a.db", 20)) as few, closing(_wide(tmp_path / "b.db", 200)) as many:
        (few_steps, _), (many_steps, standing) = (
            steps(store, partial(store.standing, days=7.0, looked_at=30, limit=25)) for store in (few, many)
        )
    lists = standing.red, standing.newly_red, standing.newly_green, standing.inconclusive
    assert [len(its) for its in lists] == [25] * 4
    assert sum(count.jobs for count in standing.counts) == 60_001
    assert many_steps < 3 * few_steps, (few_steps, many_steps)


def test_what_is_migrated_has_the_indexes_and_triggers_of_what_is_made(tmp_path: Path) -> None:
    texts = []
    for name in ("made.db", "migrated.db"):
        if name == "made.db":
            SqlStore(str(tmp_path / name)).close()
        engine, _ = connect(str(tmp_path / name), busy_s=5.0)
        with engine.execution_options(**ALONE).begin() as connection:
            if name != "made.db":
                _migrate(connection)
            query = "SELECT name, replace(sql, '\"', '') FROM sqlite_master WHERE type IN ('trigger', 'index') ORDER BY name"
            rows = connection.execute(text(query)).all()
            texts.append([(row[0], " ".join((row[1] or "").split())) for row in rows if "autoindex" not in row[0]])
        engine.dispose()
    assert texts[0] == texts[1]
    assert [name for name, _ in texts[0]].count("case_state_changed") == 1


@pytest.mark.parametrize("run", [RUNS[0], "20260201"])
def test_counts_are_of_what_is_so_now(location: str, run: str) -> None:
    """An old run that is written late changes no count of a job that a later one has."""
    with closing(SqlStore(location)) as store:
        store.open_run(make_run(RUNS[1]))
        store.record(RUNS[1], [make_result("a", "f", outcome=Outcome.CRASH)])
        store.open_run(make_run(run))
        store.record(run, [make_result("a", "f"), make_result("b", "f")])
        counts = {count.outcome: count.jobs for count in store.standing(7.0, 30, 9).counts}
    assert counts == ({"ok": 1, "crash": 1} if run < RUNS[1] else {"ok": 2})
