"""What a user is told when the history cannot be used, and that nothing is lost by it."""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, make_url, select, text
from sqlalchemy.exc import OperationalError

from assay.errors import AssayError, NewerHistory, RunNotFound, StoreError, StoreUnreachable, UsageError
from assay.stores import connect, sql_database
from assay.stores.history_tables import SCHEMA, run_summary
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run


def _told(location: str, *, kind: type[AssayError] = StoreError) -> str:
    with pytest.raises(kind) as caught:
        SqlStore(location, busy_s=0.2)
    assert type(caught.value) is kind
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my shopping list, which is long enough to be read as the head of a database " * 20)
    before = path.read_bytes()
    assert _told(str(path)) == (
        f"{path} is no history of assay (not an SQLite database): move it away, or name another --history"
    )
    assert path.read_bytes() == before


def test_the_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (photo TEXT)")
    connection.close()
    assert _told(str(path)) == f"{path} is a database of another program: move it away, or name another --history"
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]
    connection.close()


def test_a_history_of_a_newer_version(location: str) -> None:
    store = SqlStore(location)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE assay_schema SET version_num = '9998'"))
    store.close()
    assert _told(location, kind=NewerHistory) == (
        f"{location} was written by a newer version of assay (schema 9998, this one knows {SCHEMA}): "
        "upgrade assay or use another --history"
    )


def test_a_schema_of_nobody(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    store = SqlStore(location)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE assay_schema SET version_num = 'beta'"))
    store.close()
    assert _told(location) == f'{location} has the unknown schema "beta": move it away, or name another --history'


@pytest.mark.parametrize(
    ("table", "change"),
    [("results", "ALTER TABLE results RENAME COLUMN stage TO step"), ("alerts", "DROP TABLE alerts")],
)
def test_other_columns_under_the_same_number(location: str, table: str, change: str) -> None:
    store = SqlStore(location)
    with store.engine.begin() as connection:
        connection.execute(text(change))
    store.close()
    assert _told(location) == (
        f"{location} was written by an unreleased assay (its table {table} has other columns): move it away, or name another --history"
    )


def test_a_history_of_a_tree_that_was_never_released_is_left_as_it_is(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    store = SqlStore(location)
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE alerts"))
        connection.execute(text("UPDATE assay_schema SET version_num = '0004'"))
    store.close()
    for _ in range(2):  # the first look changed nothing
        assert "was written by an unreleased assay (schema 4, the first released one is 5)" in _told(location)
        with sqlite3.connect(location) as database:
            assert database.execute("SELECT version_num FROM assay_schema").fetchone() == ("0004",)


def test_held_by_another_writer_for_too_long(location: str) -> None:
    first, second = SqlStore(location), SqlStore(location, busy_s=0.2)
    first.open_run(make_run())
    with first.engine.begin() as connection:
        connection.execute(select(run_summary).with_for_update())
        with pytest.raises(StoreError) as caught:
            second.record(make_run().id, [make_result()])
    assert str(caught.value) == (
        f"{location} has been held by another process for 0.2 s: wait for that run to end, or name another --history"
    )
    second.record(make_run().id, [make_result()])
    first.close()
    second.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    store = SqlStore(location)
    store.open_run(make_run())
    store.record(make_run().id, [make_result("before")])

    # The error that SQLite gives for a full disk, at a size of our own choice.
    def small(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=60")

    event.listen(store.engine, "begin", small)
    with pytest.raises(StoreError) as caught:
        store.record(make_run().id, [make_result(f"more-{number}") for number in range(500)])
    assert str(caught.value) == (
        f"{location} cannot grow, the disk is full: free some space and resume the run; what was recorded before is kept"
    )
    assert [result.case for result in store.results("last")] == ["before"]
    assert store.runs()[0].recorded == 1
    store.close()


@contextmanager
def _without_rights() -> Iterator[None]:
    """Root may write anywhere: for a while, be nobody."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


@pytest.fixture
def folder_for_all() -> Iterator[Path]:
    """`tmp_path` lies below a folder that only its owner may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_a_folder_that_cannot_be_written(folder_for_all: Path) -> None:
    os.chmod(folder_for_all, 0o555)
    path = folder_for_all / "history.db"
    below = folder_for_all / "new" / "history.db"
    with _without_rights():
        assert _told(str(path)) == (
            f"{path} cannot be opened: make its folder readable and writable, or name another --history"
        )
        assert _told(str(below)) == (
            f"the folder of {below} cannot be made (Permission denied): name another --history, in a folder you may write to"
        )


def test_a_history_that_cannot_be_written(folder_for_all: Path) -> None:
    path = folder_for_all / "history.db"
    store = SqlStore(str(path))
    store.open_run(make_run())
    store.close()
    os.chmod(path, 0o444)
    os.chmod(folder_for_all, 0o777)
    with _without_rights():
        store = SqlStore(str(path))
        assert store.run("last") == make_run()
        with pytest.raises(StoreError) as caught:
            store.record(make_run().id, [make_result()])
        store.close()
    assert str(caught.value) == f"{path} is read-only: make the file and its folder writable, or name another --history"


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    path = tmp_path / "taken" / "history.db"
    assert "cannot be made (File exists)" in _told(str(path))


def test_a_damaged_value(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    store = SqlStore(location)
    store.open_run(make_run())
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE run_payloads SET payload = x'0102'"))
    with pytest.raises(StoreError, match="holds a value that this version of assay cannot read"):
        store.run("last")
    store.close()


def test_a_server_that_is_not_there() -> None:
    said = _told("postgresql+psycopg://me:secret@127.0.0.1:1/history", kind=StoreUnreachable)
    assert said.startswith("postgresql+psycopg://me:***@127.0.0.1:1/history cannot be read or written (")
    assert "secret" not in said
    assert "Connection refused" in said


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes a connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("by", ["the address", "nobody"])
def test_a_server_that_does_not_answer(silent: int, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """psycopg waits for two seconds at least."""
    address = f"postgresql+psycopg://me:secret@127.0.0.1:{silent}/history"
    monkeypatch.setattr(connect, "CONNECT_S", 60 if by != "nobody" else 2)
    began = time.monotonic()
    said = _told(f"{address}?connect_timeout=2" if by == "the address" else address, kind=StoreUnreachable)
    assert time.monotonic() - began < 20
    assert "does not answer: check the address, and that the server runs and can be reached" in said
    assert "?connect_timeout=30" in said
    assert "secret" not in said


def test_the_environment_says_how_long_a_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    url = make_url("postgresql+psycopg://host/history")
    assert connect._limits(url) == {"connect_timeout": connect.CONNECT_S, **connect.NETWORK}
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "30")
    assert connect._limits(url) == connect.NETWORK


def test_a_server_that_cannot_be_reached_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try may take as long as the connection has."""
    store, tries = SqlStore(str(tmp_path / "history.db")), []

    def refused(*_: object, **__: object) -> None:
        tries.append(1)
        raise OperationalError("", None, sqlite3.OperationalError("nobody answers"))

    monkeypatch.setattr(store.engine.pool, "connect", refused)
    monkeypatch.setattr(sql_database, "is_unreachable", lambda _: True)
    with pytest.raises(StoreError):
        store.open_run(make_run())
    assert len(tries) == 1
    store.close()


def test_an_address_of_something_else() -> None:
    """A user's mistake, not a broken machine. Nobody reads the password that stood in it."""
    assert _told("mysql://me:secret@host/db", kind=UsageError) == (
        '"mysql://me:***@host/db" is no history: give a path, or an address postgresql+psycopg://host/database'
    )
    assert '"postgresql://me:***@host:port/db" is no address' in _told(
        "postgresql://me:secret@host:port/db", kind=UsageError
    )


def test_a_driver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert _told("postgresql+psycopg://host/history") == (
        "a history on PostgreSQL needs its driver: pip install 'assay[postgresql]'"
    )


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    location = str(tmp_path / "history.db")
    store = SqlStore(location)

    def told(asked: str) -> str:
        with pytest.raises(RunNotFound) as caught:
            store.run(asked)
        return str(caught.value)

    assert told("last") == f"there is no run in {location} yet: record one with assay check"
    for number in range(4):
        store.open_run(make_run(f"20260{number}01T120000-abcdef"))
    newest = "20260301T120000-abcdef, 20260201T120000-abcdef, 20260101T120000-abcdef"
    assert told("2026") == f'more than one run in {location} begins with "2026" ({newest}): give more of the id'
    assert told("yesterday") == f'there is no run "yesterday" in {location}: the newest are {newest}'
    assert told("20260101T120000-abcdee").startswith(
        f'there is no run "20260101T120000-abcdee" in {location}: did you mean 20260101T120000-abcdef'
    )
    store.close()
