"""The SQL history against the conformance check of its port, and what only it promises."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from assay.core.alert import Alert
from assay.core.outcome import Outcome
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import StoreError
from assay.stores.connect import ALONE, connect
from assay.stores.encoded_result import encode
from assay.stores.find_run import exact_run
from assay.stores.history_tables import SCHEMA, metadata
from assay.stores.ingest import add_results
from assay.stores.schema import MIGRATIONS, _migrate, _version
from assay.stores.search import cell_rows
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run
from assay.testing.store_checks import check_store


def test_conforms(location: str) -> None:
    check_store(partial(SqlStore, location))


def test_states_tell_since_when_and_how_often(location: str) -> None:
    store = SqlStore(location)
    outcomes = [Outcome.OK, Outcome.CRASH, Outcome.CRASH, Outcome.CRASH]
    for number, outcome in enumerate(outcomes):
        run = make_run(f"2026010{number}")
        store.open_run(run)
        store.record(run.id, [make_result("a", outcome=outcome), make_result("b")])
    key = make_result("a").job_key
    fail = Verdict(VerdictStatus.FAIL, "crash", key)
    store.close_run("20260102", "complete", RunVerdict((Verdict(VerdictStatus.SKIP, "old", key),), fail, 1))
    store.close_run("20260103", "complete", RunVerdict((fail,), fail, 1))
    a, b = store.states()
    assert (a.outcome, a.run, a.since, a.streak, a.last_ok) == ("crash", "20260103", "20260101", 3, "20260100")
    assert a.word == "fail"
    assert (b.outcome, b.since, b.streak, b.last_ok, b.word) == ("ok", "20260100", 4, "20260103", "")
    assert [state.case for state in store.states("crash")] == ["a"]
    store.close()


def test_a_resumed_older_run_does_not_rewrite_the_present(location: str) -> None:
    store = SqlStore(location)
    for run_id in ("20260101", "20260102"):
        store.open_run(make_run(run_id))
    store.record("20260102", [make_result("a")])
    store.record("20260101", [make_result("a", outcome=Outcome.CRASH), make_result("b", outcome=Outcome.CRASH)])
    a, b = store.states()
    assert (a.outcome, a.run) == ("ok", "20260102")
    assert (b.outcome, b.run) == ("crash", "20260101")
    store.close()


def test_writers_of_two_runs_do_not_wait_for_each_other(postgresql: str) -> None:
    first, second = SqlStore(postgresql), SqlStore(postgresql, busy_s=0.3)
    for run in ("20260101", "20260102"):
        first.open_run(make_run(run))
    arrived, wanted = encode([make_result("a")])
    constants = first.constants(wanted)
    with first.engine.begin() as connection:
        add_results(connection, exact_run(connection, "20260101", ""), arrived, constants)
        second.record("20260102", [make_result("b")])
        second.open_run(make_run("20260103"))
    assert [result.case for result in second.results("20260102")] == ["b"]
    first.close()
    second.close()


def test_two_writers_of_the_same_jobs_never_wait_for_each_other_both(postgresql: str) -> None:
    store = SqlStore(postgresql, busy_s=60.0)
    for run in ("20260101", "20260102"):
        store.open_run(make_run(run))
    a, b = make_result("a"), make_result("b")
    (first, second), wanted = encode([a, b])
    constants = store.constants(wanted)
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with closing(store), ThreadPoolExecutor(1) as pool:
        with store.engine.begin() as connection:
            add_results(connection, 1, [first], constants)
            # It must wait for `a` before it holds `b`, in whatever order the two came.
            other = pool.submit(store.record, "20260102", [b, a])
            while not connection.scalar(waiting):
                assert not other.done()
            add_results(connection, 1, [second], constants)
        other.result(timeout=60)
        assert {state.run for state in store.states()} == {"20260102"}


def test_many_writers_of_the_same_jobs_lose_nothing(location: str) -> None:
    def write(number: int) -> None:
        store = SqlStore(location)
        run = f"2026010{number}"
        for start in range(0, 120, 30):
            # Each in an order of its own: whoever locks in the order of arrival waits for ever.
            some = [make_result(f"case-{case}") for case in range(start, start + 30)]
            store.record(run, some if number % 2 else some[::-1])
        store.close()

    with closing(SqlStore(location)) as store:
        for number in range(1, 5):
            store.open_run(make_run(f"2026010{number}"))
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(1, 5)))
        assert [run.recorded for run in store.runs()] == [120] * 4
        states = store.states()
    assert len(states) == 120
    assert {state.run for state in states} == {state.last_ok for state in states} == {"20260104"}
    assert all(state.since <= state.run and 1 <= state.streak <= 4 for state in states)


def test_what_is_asked_of_one_cell_goes_by_an_index(location: str) -> None:
    store = SqlStore(location)
    for number in range(4):
        store.open_run(make_run(f"2026010{number}"))
        store.record(f"2026010{number}", [make_result(f"case-{case}") for case in range(500)])
    sql = str(cell_rows("case-7", "onnxruntime").compile(store.engine, compile_kwargs={"literal_binds": True}))
    explain = "EXPLAIN QUERY PLAN" if store.engine.dialect.name == "sqlite" else "EXPLAIN"
    with store.engine.connect() as connection:
        if explain == "EXPLAIN":
            connection.execute(text("ANALYZE"))
        plan = "\n".join(str(row) for row in connection.execute(text(f"{explain} {sql}")))
    assert "ix_results_job_run" in plan
    store.close()


def test_thousands_of_results_in_one_transaction(location: str) -> None:
    store = SqlStore(location)
    store.open_run(make_run())
    many = [make_result(f"case-{number}") for number in range(3000)]
    store.record(make_run().id, many)
    store.record(make_run().id, many)
    assert store.results("last") == many
    assert store.runs()[0].recorded == 3000
    store.close()


def test_many_open_a_new_history_at_once(location: str) -> None:
    start = threading.Barrier(6)
    opened: list[str] = []

    def open_one(number: int) -> None:
        start.wait()
        store = SqlStore(location)
        store.open_run(make_run(f"2026-{number}"))
        opened.append(store.run(f"2026-{number}").id)
        store.close()

    threads = [threading.Thread(target=open_one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(opened) == [f"2026-{number}" for number in range(6)]


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(location: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == f"{SCHEMA:04}"
    engine, name = connect(location, busy_s=5.0)
    with engine.execution_options(**ALONE).begin() as connection:
        _migrate(connection)
        context = MigrationContext.configure(connection, opts={"version_table": "assay_schema"})
        assert compare_metadata(context, metadata) == []
        migrated = _version(connection, name)
    engine.dispose()
    assert migrated == SCHEMA


def test_a_new_history_has_the_version_and_the_tables_that_the_migrations_lead_to(location: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    store = SqlStore(location)
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "assay_schema"})
        assert context.get_current_revision() == f"{SCHEMA:04}"
        assert compare_metadata(context, metadata) == []
    store.close()


def test_a_history_that_is_up_to_date_is_opened_without_writing(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    first = SqlStore(location)
    with first.engine.begin() as connection:
        connection.execute(text("SELECT 1"))
        second = SqlStore(location, busy_s=0.1)
        assert second.runs() == []
        second.close()
    first.close()


def test_sqlite_is_set_up_for_one_writer_and_many_readers(tmp_path: Path) -> None:
    store = SqlStore(str(tmp_path / "history.db"))
    with store.engine.connect() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30_000}
    store.close()


def test_names_with_signs_of_addresses_are_files(tmp_path: Path) -> None:
    path = tmp_path / "100 %? #1" / "history?x=1.db"
    SqlStore(str(path)).close()
    assert path.is_file()


def test_alerts_are_changed_by_one_at_a_time(location: str) -> None:
    with closing(SqlStore(location)) as first, closing(SqlStore(location, busy_s=0.2)) as second:

        def change(alerts: list[Alert]) -> list[Alert]:
            with pytest.raises(StoreError, match=r"has been held by another process for 0\.2 s"):
                second.change_alerts(lambda those: those)
            return alerts

        first.change_alerts(change)
        second.change_alerts(lambda those: those)
