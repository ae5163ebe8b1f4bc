"""A server that stands still, as a machine that is paused or cut off does: nobody waits for ever, and nothing is lost or there twice."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import text

from assay.errors import StoreError, StoreUnreachable
from assay.stores import connect, watched_connection
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from databases import PostgresServer, running_postgres

RUN = make_run(jobs=tuple(make_job(f"case-{number}") for number in range(20)))
ANSWERS = [make_result(f"case-{number}") for number in range(20)]
PATIENCE_S = 30.0
SAID = "says nothing any more: see whether its server runs and can be reached; nothing that was recorded is lost"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_postgres() as postgres:
        yield postgres


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_connection, "SILENT_S", 0.2)
    monkeypatch.setattr(connect, "CONNECT_S", 2)


def _told(work: threading.Thread, errors: list[StoreError]) -> StoreError:
    work.start()
    work.join(PATIENCE_S)
    assert not work.is_alive(), "it waits for ever"
    return errors[0]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_read_ends_in_a_sentence(server: PostgresServer, read_only: bool) -> None:
    address = server.make_database(f"read_{read_only}".lower())
    SqlStore(address).close()
    with closing(SqlStore(address, read_only=read_only)) as store:
        store.runs()
        errors: list[StoreError] = []

        def read() -> None:
            try:
                store.runs()
            except StoreError as error:
                errors.append(error)

        with server.stopped():
            error = _told(threading.Thread(target=read, daemon=True), errors)
        assert type(error) is StoreUnreachable
        assert str(error) == f"{store.name} {SAID}"
        assert store.runs() == [], "the next one has a connection of its own"


def test_what_was_written_meanwhile_is_there_once(server: PostgresServer) -> None:
    with closing(SqlStore(server.make_database("written"))) as store:
        store.open_run(RUN)
        store.record(RUN.id, ANSWERS[:10])
        errors: list[StoreError] = []

        def write() -> None:
            try:
                store.record(RUN.id, ANSWERS)
            except StoreError as error:
                errors.append(error)

        with server.stopped():
            error = _told(threading.Thread(target=write, daemon=True), errors)
        assert type(error) is StoreUnreachable
        store.record(RUN.id, ANSWERS)
        assert sorted(result.case for result in store.results(RUN.id)) == sorted(result.case for result in ANSWERS)
        assert {state.streak for state in store.states()} == {1}, "a result counted twice"


def test_a_statement_that_takes_long_goes_on(server: PostgresServer) -> None:
    with closing(SqlStore(server.make_database("long"))) as store, store.reading() as connection:
        began = time.monotonic()
        assert connection.scalar(text("SELECT 1 FROM pg_sleep(1.5)")) == 1
        assert time.monotonic() - began > 5 * watched_connection.SILENT_S


def test_a_page_that_takes_minutes_ends(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = server.make_database("minutes")
    SqlStore(address).close()
    monkeypatch.setattr(connect, "_READER", connect._READER.replace("=120s", "=200ms"))
    with closing(SqlStore(address, read_only=True)) as store:
        with pytest.raises(StoreError) as caught, store.reading() as connection:
            connection.scalar(text("SELECT 1 FROM pg_sleep(5)"))
        assert str(caught.value) == (
            f"{store.name} takes more than two minutes to answer: ask for less, or see what else its server does"
        )


def test_the_network_has_a_limit_too(server: PostgresServer) -> None:
    """A connection that the network has forgotten is found by the kernel, as no server needs to answer for it."""
    with closing(SqlStore(server.make_database("network"))) as store, store.reading() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        with socket.socket(fileno=socket.dup(driver.fileno())) as line:
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
            assert [line.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [30, 10, 3, 60_000]
