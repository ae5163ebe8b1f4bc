"""An SQLite file for who only reads, and may have no right to write beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import QueuePool

from assay.errors import StoreError

READERS = 40
"""Connections of an engine that only reads, each of a thread of its own."""

_NOT_AS_A_READER = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""What SQLite says where it would have to make the files beside a file in WAL mode."""

_Connection = TypeVar("_Connection", bound=sqlite3.Connection)
_State = tuple[tuple[int, int, int] | None, ...]


class _Still(sqlite3.Connection):
    """To a file that SQLite takes as unchanging: it takes no lock, and does not see what is written. `state`: as it was opened."""

    path: Path
    state: _State

    def is_same(self) -> bool:
        return _state(self.path) == self.state


def read_sqlite(path: Path, busy_s: float) -> Engine:
    """Every connection is opened as the file is then; one that would not see what was written since is opened again. Using it raises
    StoreError where what was written last cannot be read."""
    engine = create_engine(
        "sqlite://", creator=lambda: _open(path, busy_s), poolclass=QueuePool, pool_size=READERS, max_overflow=0
    )

    @event.listens_for(engine, "checkout")
    def discard_old(connection: Any, _record: object, _proxy: object) -> None:
        if isinstance(connection, _Still) and not connection.is_same():
            raise DisconnectionError  # SQLAlchemy opens another

    return engine


@contextmanager
def unchanged_meanwhile(connection: Connection) -> Iterator[None]:
    """What is read within is of one moment. Raises StoreError where it may not be: a file without locks was written to."""
    file = connection.connection.driver_connection
    try:
        yield
    except DBAPIError:
        _demand_same(file)  # pages of two moments look like damage
        raise
    _demand_same(file)


def _demand_same(file: object) -> None:
    if isinstance(file, _Still) and not file.is_same():
        raise StoreError(f"{file.path} was written to while it was read: read it again")


def _open(path: Path, busy_s: float) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _connect(sqlite3.Connection, address, busy_s)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _NOT_AS_A_READER:
            raise
    state = _state(path)
    log = state[1]
    if log is not None and log[2]:
        raise StoreError(
            f"the newest of {path} lies in {path.name}-wal beside it, which only who may write into that folder can read: call "
            "`assay runs` with it once as one who may"
        )
    # Nobody writes, and nobody here may make the files beside it that a reader needs.
    connection = _connect(_Still, f"{address}&immutable=1", busy_s)
    connection.path, connection.state = path, state
    return connection


def _connect(kind: type[_Connection], address: str, busy_s: float) -> _Connection:
    connection = sqlite3.connect(
        address, uri=True, timeout=busy_s, check_same_thread=False, isolation_level=None, factory=kind
    )
    try:
        connection.execute("PRAGMA cache_size=-16000")
        connection.execute("PRAGMA schema_version")  # before the first read SQLite opens nothing
    except BaseException:
        connection.close()
        raise
    return connection


def _state(path: Path) -> _State:
    """Of the file and of its log."""
    files_state: list[tuple[int, int, int] | None] = []
    for file in (path, Path(f"{path}-wal")):
        try:
            status = file.stat()
        except FileNotFoundError:
            files_state.append(None)
        else:
            files_state.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(files_state)
