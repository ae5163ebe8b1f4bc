"""Who judges a run locks the state of its jobs in the order of their names, as who records does: two never wait for one another."""

from __future__ import annotations

import threading
import time
from contextlib import closing

from sqlalchemy import Connection, text

from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run


def test_who_judges_waits_for_the_first_and_holds_no_later_one(postgresql: str) -> None:
    with closing(SqlStore(postgresql)) as store, closing(SqlStore(postgresql)) as other:
        run = make_run()
        store.open_run(run)
        second, first = make_result("b"), make_result("a")
        store.record(run.id, [second])  # so that a scan of the table meets it first
        store.record(run.id, [first])
        verdicts = tuple(Verdict(VerdictStatus.PASS, "", job_key=result.job_key) for result in (first, second))
        judged = RunVerdict(verdicts, Verdict(VerdictStatus.PASS, ""), 0)
        with other.engine.begin() as connection:
            _lock(connection, first.job_key)
            judging = threading.Thread(target=store.close_run, args=(run.id, "complete", judged))
            judging.start()
            _until_it_waits(store)
            connection.execute(text("SET LOCAL lock_timeout = '60s'"))
            _lock(connection, second.job_key)
        judging.join(60)
        assert not judging.is_alive()


def _lock(connection: Connection, key: str) -> None:
    assert connection.execute(text("SELECT number FROM case_state WHERE job_key = :key FOR UPDATE"), {"key": key}).all()


def _until_it_waits(store: SqlStore) -> None:
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    for _ in range(600):
        with store.engine.connect() as connection:
            if connection.execute(waiting).scalar_one():
                return
        time.sleep(0.1)
    raise AssertionError("nobody waits for a lock")
