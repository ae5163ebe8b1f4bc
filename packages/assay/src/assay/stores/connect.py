"""From a path or an address to an engine. SQLite has one writer at a time; PostgreSQL one for each run."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from assay.errors import StoreError, UsageError
from assay.stores.read_sqlite import READERS, read_sqlite

READ = {"assay_read": True}
"""Execution options of a connection that will not write: it waits for nobody."""

ALONE = {"assay_alone": True}
"""Of a connection that changes the tables themselves, or a whole table: no other does so at the same time."""

_ONE_AT_A_TIME = 0x617373_6179
"""The advisory lock of PostgreSQL that the latter hold until their transaction ends ("assay")."""

CONNECT_TIMEOUT = "connect_timeout"
CONNECT_S = 5
"""For each address that the name of the server has. `?connect_timeout=30` in the address of the history says another, or
PGCONNECT_TIMEOUT."""

NETWORK = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
"""Of the kernel: a connection that the network has forgotten, to a server that lives, ends after a minute. The address may say others."""

FRESH_S = 1.0
"""A connection to PostgreSQL that was used so shortly ago is taken as alive."""

_READER = (
    "-c default_transaction_read_only=on -c max_parallel_workers_per_gather=0 -c jit=off "
    "-c plan_cache_mode=force_custom_plan -c statement_timeout=120s"
)
"""Of who shows pages: a query of some milliseconds is over before another process, or a compiler, has begun to help. Each is planned for
what it asks: the number of runs and of jobs decides by which index. Nobody waits for minutes for a page."""


def connect(location: str, *, busy_s: float, read_only: bool = False) -> tuple[Engine, str]:
    """The engine, and the name under which a user knows it (no password in it).

    `location` is a path (the parent folder is made) or a `postgresql+psycopg://` address. `read_only`: the database itself refuses
    whatever would change it. Raises UsageError for an address of no such database, StoreError.
    """
    if location.startswith(("postgresql:", "postgresql+", "postgres:")):
        return _postgresql(location, busy_s, read_only)
    if "://" in location:
        raise UsageError(
            f'"{_public(location)}" is no history: give a path, or an address postgresql+psycopg://host/database'
        )
    return (read_sqlite if read_only else _sqlite)(Path(location), busy_s), location


def _public(location: str) -> str:
    """Without its password."""
    return re.sub(r"(://[^/:@]*):[^@]*@", r"\1:***@", location)


def _sqlite(path: Path, busy_s: float) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder of {path} cannot be made ({error.strerror}): name another --history, in a "
            "folder you may write to"
        ) from error
    engine = create_engine(URL.create("sqlite", database=str(path.absolute())), connect_args={"timeout": busy_s})

    # A transaction that reads first and then writes fails at once when another has written between: no timeout helps.
    # So the driver begins none by itself, and a writer takes the lock at its beginning, where waiting works.
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        _use_wal(connection, busy_s)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get("assay_read", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def _use_wal(connection: sqlite3.Connection, busy_s: float) -> None:
    # The timeout does not cover the change to WAL: SQLite says "locked" at once to the second of two that make a history
    # together (seen with 3.40, six threads). The change is made once in the life of a file, so that trying again is rare.
    until = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _postgresql(location: str, busy_s: float, read_only: bool) -> tuple[Engine, str]:
    # Each statement sees what is committed when it begins, in a transaction or not: without one, two round trips in four are saved.
    own = {"pool_size": READERS // 2, "max_overflow": 0, "isolation_level": "AUTOCOMMIT"} if read_only else {}
    reads = {"options": _READER} if read_only else {}
    try:
        url = make_url(location).set(drivername="postgresql+psycopg")
        engine = create_engine(url, connect_args={**_limits(url), **reads}, **own)
    except (ArgumentError, ValueError):  # the second of a port that is no number
        raise UsageError(
            f'"{_public(location)}" is no address of a database: write postgresql+psycopg://user@host:5432/database'
        ) from None
    except ModuleNotFoundError:
        raise StoreError("a history on PostgreSQL needs its driver: pip install 'assay[postgresql]'") from None

    _ask_where_idle(engine)
    _watch(engine)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("assay_read", False):
            connection.execute(text(f"SET LOCAL lock_timeout = {int(busy_s * 1000)}"))
        if options.get("assay_alone", False):
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ONE_AT_A_TIME})"))

    return engine, url.render_as_string(hide_password=True)


def _limits(url: URL) -> dict[str, int]:
    """None of our own where the address, or the environment, says one."""
    says_one = CONNECT_TIMEOUT in url.query or "PGCONNECT_TIMEOUT" in os.environ
    limits = {} if says_one else {CONNECT_TIMEOUT: CONNECT_S}
    return limits | {name: value for name, value in NETWORK.items() if name not in url.query}


def _watch(engine: Engine) -> None:
    """A statement waits for a server that works, and for no other."""
    from assay.stores.watched_connection import WatchedConnection

    @event.listens_for(engine, "do_connect")
    def open_(_dialect: object, _record: object, words: Any, options: dict[str, Any]) -> WatchedConnection:
        return WatchedConnection.connect(*words, **options)


def _ask_where_idle(engine: Engine) -> None:
    """Whether the server still knows a connection that was not used for a while: to ask each time is a round trip for each of the ten
    questions of a page."""

    @event.listens_for(engine, "checkin")
    def remember(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ask(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        used = record.info.get("used")
        if used is None or time.monotonic() - used < FRESH_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error  # SQLAlchemy opens another
