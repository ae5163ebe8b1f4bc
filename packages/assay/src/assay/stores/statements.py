"""What statements of both databases need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    any_,
    bindparam,
    collate,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, OperationalError

Value = TypeVar("Value")

_MOST_PARAMETERS = 400
"""Names in one IN (...): SQLite's older limit is 999 for the whole statement."""


def insert_for(connection: Connection, table: Table) -> Any:
    """An insert that can say what to do where the row is there already: each database has a type of its own for it. That of PostgreSQL is
    imported where it is the database: it takes as long as a twentieth of a small check."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_or
    else:
        from sqlalchemy.dialects.sqlite import insert as insert_or  # type: ignore[assignment]
    return insert_or(table)


def by_code(connection: Connection, column: ColumnElement[str]) -> ColumnElement[str]:
    """To sort by, as SQLite does: PostgreSQL would by the language of the database. An index of the column is of no use for it there."""
    return collate(column, "C") if connection.dialect.name == "postgresql" else column


def among(connection: Connection, column: ColumnElement[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """Whether it is one of these. PostgreSQL gets them as one array: a list of another length would be another statement, which the driver
    and the server read and prepare it each time."""
    if connection.dialect.name != "postgresql":
        return column.in_(values)
    from sqlalchemy import ARRAY

    return column == any_(literal(list(values), ARRAY(column.type)))


def add_many(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of which none is there yet. PostgreSQL takes them as one stream, at a fraction of the work of statements."""
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.execute(insert(table), list(rows))
        return
    import psycopg

    quote = connection.dialect.identifier_preparer.quote
    names = list(rows[0])
    statement = f"COPY {table.name} ({', '.join(map(quote, names))}) FROM STDIN"
    driver: Any = connection.connection.driver_connection
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row([row[name] for name in names])
    except psycopg.Error as error:
        kind = OperationalError if isinstance(error, psycopg.OperationalError) else DBAPIError
        raise kind(statement, None, error) from error


def as_arrays(columns: Sequence[ColumnElement[Any]], rows: Sequence[Mapping[str, Any]]) -> Select[Any]:
    """These rows as PostgreSQL makes them of one array for each column: one statement for all, where each would be a message."""
    from sqlalchemy import ARRAY

    arrays = (
        bindparam(f"every_{column.key}", [row[str(column.key)] for row in rows], ARRAY(column.type))
        for column in columns
    )
    return select(*(func.unnest(array).label(str(column.key)) for column, array in zip(columns, arrays, strict=True)))


def next_numbers(connection: Connection, table: Table, count: int) -> list[int]:
    """So many new ones for its column `number`, in their order. On SQLite it holds the lock already in which nobody else takes them."""
    if connection.dialect.name == "postgresql":
        query = text(f"SELECT nextval('{table.name}_number_seq') FROM generate_series(1, :count)")
        return sorted(connection.scalars(query, {"count": count}))
    last = connection.scalar(text(f"SELECT max(number) FROM {table.name}")) or 0
    return list(range(last + 1, last + 1 + count))


def chunks(keys: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """So many that a statement can hold them."""
    for start in range(0, len(keys), _MOST_PARAMETERS):
        yield keys[start : start + _MOST_PARAMETERS]
