"""Run by Alembic, inside the transaction that `assay.stores.schema` has begun on the connection it hands over."""

from __future__ import annotations

from alembic import context

from assay.stores.history_tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # SQLite cannot alter a table: Alembic copies it. Our transaction holds the definitions too.
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
