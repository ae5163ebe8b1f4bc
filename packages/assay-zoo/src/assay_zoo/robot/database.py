"""The robot's database: one writer waits for another on SQLite, rows are locked one by one on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Table, event, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from assay.errors import AssayError, NewerHistory, StoreError
from assay.stores.connect import READ, connect
from assay_zoo.robot.tables import SCHEMA, UPGRADES, meta, metadata

BUSY_S = 30.0


class Database:
    """Opened, and its tables made where there are none. `name` is for people: it has no password."""

    def __init__(self, location: str) -> None:
        self._engine, self.name = connect(location, busy_s=BUSY_S)
        self._rows_lock = self._engine.dialect.name == "postgresql"
        if not self._rows_lock:
            # SQLite would move its journal into the database in the middle of some write, and wait for the disk there.
            event.listen(self._engine, "connect", _no_checkpoint)
        try:
            with self._translate_errors(), self._engine.begin() as connection:
                self._prepare(connection)
        except AssayError:
            self._engine.dispose()
            raise

    def _prepare(self, connection: Connection) -> None:
        metadata.create_all(connection)
        version = connection.execute(select(meta.c.value).where(meta.c.name == "schema").with_for_update()).scalar()
        if version is None:
            connection.execute(insert(meta).values(name="schema", value=str(SCHEMA)))
        elif int(version) < SCHEMA:
            for statement in (each for number in range(int(version) + 1, SCHEMA + 1) for each in UPGRADES[number]):
                connection.execute(text(statement))
            connection.execute(update(meta).where(meta.c.name == "schema").values(value=str(SCHEMA)))
        elif int(version) > SCHEMA:
            raise NewerHistory(
                f"{self.name} was written by a newer version of assay (schema {version}, this one knows {SCHEMA}): "
                "upgrade assay or name another database"
            )

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction. On SQLite it has the one lock from its beginning on."""
        with self._translate_errors(), self._engine.connect() as connection:
            if self._rows_lock:  # else the history's one-writer lock would be taken
                connection = connection.execution_options(**READ)
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._translate_errors(), self._engine.connect().execution_options(**READ) as connection:
            yield connection

    def insert_new(self, connection: Connection, table: Table, **values: Any) -> bool:
        """Insert a row; False where one with a key of this row is there already, and then nothing is changed."""
        make = postgresql.insert if self._rows_lock else sqlite.insert
        row = make(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key)
        return connection.execute(row).first() is not None

    def tidy(self) -> None:
        """Move SQLite's journal into the database, so that it does not grow; to be called now and then by a thread that may
        wait. It holds up nobody."""
        if not self._rows_lock:
            with self._translate_errors():
                connection = self._engine.raw_connection()
                try:
                    connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                finally:
                    connection.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            message = " ".join(str(error.orig).split())
            raise StoreError(
                f"the robot's database {self.name} cannot be used ({message}): check that it is there, that it has room and "
                "that no other program holds it"
            ) from error


def _no_checkpoint(connection: Any, _: object) -> None:
    connection.execute("PRAGMA wal_autocheckpoint=0")
