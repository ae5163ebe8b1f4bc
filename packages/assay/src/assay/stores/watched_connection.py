"""A connection to PostgreSQL whose server may fall silent: it was stopped, or the network drops what is sent. The protocol does not tell
that from a statement that takes long, so a read would wait for ever: while it waits, the server is asked whether it answers anybody."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self, TypeVar

from psycopg import Connection, OperationalError, pq
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo

SILENT_S = 10.0
"""Without a byte of the answer: then the server is asked, and so again after each further time."""
UNANSWERED = 2
"""Questions in a row that it does not answer either: a machine that is busy for a moment is not given up."""
SILENT = "says nothing any more"
"""In the text of the error: see `assay.stores.errors`."""
_NOT_OF_LIBPQ = ("autocommit", "prepare_threshold", "context", "row_factory", "cursor_factory")

Value = TypeVar("Value")


class WatchedConnection(Connection[Any]):
    """As `psycopg.Connection`: a statement takes as long as it does. Where the server answers nobody any more it raises OperationalError,
    and the connection is closed."""

    _asked_by = ""

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """See `psycopg.Connection.connect`."""
        connection = super().connect(conninfo, **options)
        own = {name: value for name, value in options.items() if name not in _NOT_OF_LIBPQ}
        connection._asked_by = make_conninfo(conninfo, **own)
        return connection

    def wait(self, gen: PQGen[Value], *arguments: Any, **options: Any) -> Value:
        """See `psycopg.Connection.wait`."""
        return super().wait(watched(gen, self._is_answering, self.pgconn.finish), *arguments, **options)

    def _is_answering(self) -> bool:
        """Whether it lets anybody in does not matter: one that is full, or starts just now, answers, too."""
        return pq.PGconn.ping(self._asked_by.encode()) in (pq.Ping.OK, pq.Ping.REJECT)


def watched(gen: PQGen[Value], is_answering: Callable[[], bool], close: Callable[[], None]) -> PQGen[Value]:
    """`gen`, which is asked for the next step at short intervals, whether anything has come or not."""
    unanswered, since = 0, time.monotonic()
    try:
        statement = next(gen)
        while True:
            ready = yield statement
            if ready:
                unanswered, since = 0, time.monotonic()
            elif time.monotonic() - since > SILENT_S:
                unanswered = 0 if is_answering() else unanswered + 1
                if unanswered >= UNANSWERED:
                    close()
                    raise OperationalError(f"the server {SILENT}")
                since = time.monotonic()
            statement = gen.send(ready)
    except StopIteration as end:
        value: Value = end.value
        return value
