"""What statements of both databases need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

Value = TypeVar("Value")

_MOST_PARAMETERS = 400
"""Names in one IN (...): SQLite's older limit is 999 for the whole statement."""


def insert_for(connection: Connection, table: Table) -> Any:
    """An insert that can say what to do where the row is there already: each database has a type of its own for it."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def chunks(keys: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """So many that a statement can hold them."""
    for start in range(0, len(keys), _MOST_PARAMETERS):
        yield keys[start : start + _MOST_PARAMETERS]
