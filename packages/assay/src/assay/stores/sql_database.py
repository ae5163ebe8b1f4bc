"""A database of the history, opened and brought up to date: its transactions, and what goes wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from assay.stores.connect import ALONE, READ, connect
from assay.stores.errors import is_unreachable, translate_errors
from assay.stores.read_sqlite import unchanged_meanwhile
from assay.stores.schema import bring_up_to_date, demand_current

Value = TypeVar("Value")


class SqlDatabase:
    """See `assay.stores.sql.SqlStore`."""

    def __init__(self, location: str, *, busy_s: float = 30.0, read_only: bool = False) -> None:
        self._busy_s = busy_s
        self._constants: dict[bytes, int] = {}
        self.engine, self.name = connect(str(location), busy_s=busy_s, read_only=read_only)
        try:
            with translate_errors(self.name, busy_s=busy_s):
                (demand_current if read_only else bring_up_to_date)(self.engine, self.name)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the connections back. Closing twice is harmless."""
        self.engine.dispose()

    def write(self, change: Callable[[Connection], Value], *, alone: bool = False) -> Value:
        """One transaction, which may be done twice: a server that was restarted has closed every connection of the pool, and whether it
        had committed when it went nobody knows. One that cannot be reached at all is asked once. Raises StoreUnreachable.
        `alone`: no other that is alone comes between."""
        engine = self.engine.execution_options(**ALONE) if alone else self.engine
        with translate_errors(self.name, busy_s=self._busy_s):
            reached = False
            try:
                with engine.begin() as connection:
                    reached = True
                    return change(connection)
            except DBAPIError as error:
                was_lost = reached or error.connection_invalidated
                if not (was_lost and is_unreachable(error)):
                    raise
            with engine.begin() as connection:
                return change(connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that waits for no writer. See `unchanged_meanwhile`."""
        with (
            translate_errors(self.name, busy_s=self._busy_s),
            self.engine.connect().execution_options(**READ) as connection,
            connection.begin(),
            unchanged_meanwhile(connection),
        ):
            yield connection
