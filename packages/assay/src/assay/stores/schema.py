"""Bring a database to the schema that this code knows, or refuse it before anything is touched."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, text

from assay.errors import NewerHistory, StoreError
from assay.stores.connect import ALONE, READ
from assay.stores.history_tables import FIRST_RELEASED, SCHEMA, VERSION_TABLE, metadata

MIGRATIONS = Path(__file__).parent / "migrations"


def bring_up_to_date(engine: Engine, name: str) -> None:
    """Make the tables of a new history, migrate those of an old one; a current one is only read.

    Raises NewerHistory where a newer assay wrote it, StoreError where the tables in it are those of another program or of a tree that was
    never released: then nothing of it was changed.
    """
    with engine.connect().execution_options(**READ) as connection:
        if _version(connection, name) == SCHEMA:
            _reject_other_columns(connection, name)
            return
    with engine.execution_options(**ALONE).begin() as connection:
        # Another process may have done it while this one waited for the lock.
        version = _version(connection, name)
        if version != SCHEMA:
            _migrate(connection) if version else _make(connection)
            _reject_other_columns(connection, name)


def demand_current(engine: Engine, name: str) -> None:
    """For who only reads: nothing is made and nothing is migrated. Raises NewerHistory, StoreError."""
    with engine.connect().execution_options(**READ) as connection:
        version = _version(connection, name)
        if version != SCHEMA:
            what = (
                f"was written by an older assay (schema {version}, this one knows {SCHEMA})" if version else "is empty"
            )
            raise StoreError(
                f"{name} {what}: call `assay runs` with it once, which brings it up to date, as one who may write there"
            )
        _reject_other_columns(connection, name)


def _version(connection: Connection, name: str) -> int:
    """0 for an empty database."""
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise StoreError(f"{name} is a database of another program: move it away, or name another --history")
        return 0
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if version is None:
        return 0
    if not str(version).isdecimal():
        raise StoreError(f'{name} has the unknown schema "{version}": move it away, or name another --history')
    if int(version) < FIRST_RELEASED:
        raise StoreError(
            f"{name} was written by an unreleased assay (schema {int(version)}, the first released one is {FIRST_RELEASED}): move it "
            "away, or name another --history"
        )
    if int(version) > SCHEMA:
        raise NewerHistory(
            f"{name} was written by a newer version of assay (schema {int(version)}, this one knows {SCHEMA}): "
            "upgrade assay or use another --history"
        )
    return int(version)


def _reject_other_columns(connection: Connection, name: str) -> None:
    """A tree that was never released may have written other columns under the same number."""
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    for table in metadata.sorted_tables:
        columns = inspector.get_columns(table.name) if table.name in there else []
        if {str(column["name"]) for column in columns} != set(table.columns.keys()):
            raise StoreError(
                f"{name} was written by an unreleased assay (its table {table.name} has other columns): move it away, or "
                "name another --history"
            )


def _make(connection: Connection) -> None:
    """All tables of an empty database, with the version that Alembic would write: the migrations lead to the same tables, step by step."""
    metadata.create_all(connection)
    version = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))
    version.create(connection, checkfirst=True)
    connection.execute(version.insert().values(version_num=f"{SCHEMA:04}"))


def _migrate(connection: Connection) -> None:
    # Alembic takes a third of a second to import: only a history of an older version pays.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
