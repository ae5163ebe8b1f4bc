"""A real server that loses a connection in the middle of writing, or is killed and started again in the middle of a run: nothing is lost,
and nothing is there twice."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select

from assay.commands.composition import open_services
from assay.core.result import Result
from assay.core.verdict import RunVerdict
from assay.judge.verdicts import judge
from assay.pipeline import open_run as opening
from assay.pipeline.open_run import open_run
from assay.stores.history_tables import metric_values, result_payloads, results
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from command_line import run_assay
from cut_connection import Cut
from databases import PostgresServer, running_postgres

COUNT = 400
RUN = make_run(jobs=tuple(make_job(f"case-{number}") for number in range(COUNT)))
ANSWERS = [make_result(f"case-{number}") for number in range(COUNT)]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_postgres() as postgres_servers:
        yield postgres_servers


def _all_are_there_once(address: str, expected: list[Result]) -> None:
    with closing(SqlStore(address)) as store:
        there = store.results(RUN.id)
        assert sorted(result.case for result in there) == sorted(result.case for result in expected)
        assert (store.runs()[0].recorded, store.run(RUN.id).status) == (len(expected), "complete")
        assert {state.streak for state in store.states()} == {1}, "a result counted twice"
        with store.reading() as connection:
            for table in (results, result_payloads, metric_values):
                assert connection.scalar(select(func.count()).select_from(table)) == len(expected), table.name


def test_an_answer_to_a_commit_that_is_lost_records_nothing_twice(postgresql: str) -> None:
    """The server has written it, and nobody was told: it is sent again."""
    with Cut(postgresql) as cut, closing(SqlStore(cut.address)) as store:
        store.open_run(RUN)
        store.record(
            RUN.id, ANSWERS[:1]
        )  # what all have in common is written by then: the next one is the results' own
        cut.lose_next_commit()
        store.record(RUN.id, ANSWERS[1:])
        cut.lose_next_commit()
        store.close_run(RUN.id, "complete", _judged())
    _all_are_there_once(postgresql, ANSWERS)


def _judged() -> RunVerdict:
    return judge(ANSWERS, RUN.policy, planned=[job.key for job in RUN.jobs], today=date(2026, 11, 28))


@contextmanager
def _again_and_again(disturb: Callable[[], None], between_s: float) -> Iterator[list[int]]:
    """In a thread, from now on. How often it was done."""
    over, times = threading.Event(), [0]

    def go_on() -> None:
        while not over.wait(between_s * random.uniform(0.5, 1.5)):
            disturb()
            times[0] += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()


def _record_all(address: str, disturb: Callable[[], None], between_s: float, least: int) -> None:
    """As a run does that has begun, until it was disturbed so often; the last results wait for that."""
    with ExitStack() as disturbed, open_services(address) as services:
        with open_run(RUN, services) as opened:
            times = disturbed.enter_context(_again_and_again(disturb, between_s))
            for number, result in enumerate(ANSWERS):
                until = time.monotonic() + 60
                while times[0] < least * number / COUNT and time.monotonic() < until:
                    time.sleep(0.01)
                opened.add(result)
        assert times[0] >= least


@pytest.mark.slow
def test_connections_that_are_lost_while_it_writes(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "BATCH_S", 0.0)
    monkeypatch.setattr(opening, "AGAIN_S", 0.0)
    address = server.make_database("terminated")
    with psycopg.connect(f"{server.address.replace('+psycopg', '')}/postgres", autocommit=True) as connection:

        def terminate() -> None:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'terminated'")

        _record_all(address, terminate, 0.3, 12)
    _all_are_there_once(address, ANSWERS)


@pytest.mark.slow
def test_a_server_that_is_killed_and_started_again_while_a_run_goes_on(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "BATCH_S", 0.0)
    monkeypatch.setattr(opening, "AGAIN_S", 0.0)
    address = server.make_database("restarted")

    def restart() -> None:
        server.stop()
        server.start()

    _record_all(address, restart, 1.5, 4)
    _all_are_there_once(address, ANSWERS)


@pytest.mark.slow
def test_the_command_ends_with_the_same_verdicts(server: PostgresServer, tmp_path: Path) -> None:
    """`assay run` of a suite, whose server is killed meanwhile."""
    address = server.make_database("commanded")
    with closing(SqlStore(address)):
        pass

    def restart() -> None:
        with closing(SqlStore(address)) as store:
            while not store.runs():
                time.sleep(0.05)
        server.stop()
        time.sleep(0.5)  # while nobody answers, it goes on
        server.start()

    words = ("run", "onnx-node", "--flow", "reference", "--filter", "test_ad*", "--workers", "1", "--alerts", "off")
    whole = run_assay(*words, "--history", str(tmp_path / "local"), cwd=tmp_path)
    with _again_and_again(restart, 1.0) as times:
        ended = run_assay(*words, "--history", address, cwd=tmp_path)
    assert times[0] >= 1, "it was over before"
    assert ended.returncode == whole.returncode, ended.stderr
    with closing(SqlStore(address)) as store, closing(SqlStore(str(tmp_path / "local" / "history.db"))) as local:
        stands, expected = (
            [(state.job_key, state.outcome, state.word, state.streak) for state in history.states()]
            for history in (store, local)
        )
        assert stands == expected
        assert store.runs()[0].recorded == local.runs()[0].recorded == len(stands)
