"""Who may do what with a history on PostgreSQL: a writer records runs, a reader only looks. Neither can remove or change the tables."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from assay.errors import UsageError
from assay.stores.history_tables import (
    VERSION_TABLE,
    alerts,
    kept_folders,
    metadata,
    run_annotations,
    run_cells,
    state_changes,
)
from assay.stores.sql import SqlStore

_SEQUENCES = ", ".join(f"{name}_number_seq" for name, table in metadata.tables.items() if "number" in table.columns)
_CHANGED = ", ".join(name for name in metadata.tables if name != run_annotations.name)
_DELETED = ", ".join(table.name for table in (alerts, kept_folders, run_cells, state_changes))


def grant(store: SqlStore, *, readers: Sequence[str], writers: Sequence[str]) -> None:
    """Give the roles their rights; what they have already stays. Raises UsageError for SQLite, whose rights are those of the file, and for
    a role that is not there."""
    if store.engine.dialect.name != "postgresql":
        raise UsageError(f"{store.name} is a file: who may read and write it, its folder says (chmod, chown)")
    store.write(lambda connection: _grant(connection, store.name, readers, writers))


def _grant(connection: Connection, name: str, readers: Sequence[str], writers: Sequence[str]) -> None:
    there = set(connection.scalars(text("SELECT rolname FROM pg_roles")))
    unknown = [role for role in (*readers, *writers) if role not in there]
    if unknown:
        raise UsageError(
            f'there is no role {unknown[0]} in {name}: make it first, with CREATE ROLE "{unknown[0]}" LOGIN'
        )
    tables = ", ".join(metadata.tables)
    for role in (*readers, *writers):
        quoted = connection.dialect.identifier_preparer.quote_identifier(role)
        connection.execute(text(f"GRANT SELECT ON {VERSION_TABLE}, {tables} TO {quoted}"))
        if role in writers:
            connection.execute(text(f"GRANT UPDATE ON {_CHANGED} TO {quoted}"))
            connection.execute(text(f"GRANT INSERT ON {tables} TO {quoted}"))
            connection.execute(text(f"GRANT DELETE ON {_DELETED} TO {quoted}"))
            connection.execute(text(f"GRANT USAGE ON SEQUENCE {_SEQUENCES} TO {quoted}"))
