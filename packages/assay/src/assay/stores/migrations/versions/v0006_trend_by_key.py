"""Metrics that trends are drawn of lie in the key's index on PostgreSQL, the others in a column of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_MOVE = "UPDATE metric_values SET more_numbers = substr(numbers, 2001), numbers = substr(numbers, 1, 2000) WHERE length(numbers) > 2000"
_KEY = "ADD CONSTRAINT pk_metric_values PRIMARY KEY (job, run) INCLUDE (names, versions, numbers)"
_VACUUM = "SET (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000)"


def upgrade() -> None:
    """What was recorded before stays in the index as far as a row of it holds it: 250 numbers."""
    op.add_column("metric_values", sa.Column("more_numbers", sa.LargeBinary(), nullable=True))
    op.execute(_MOVE)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE metric_values DROP CONSTRAINT pk_metric_values, {_KEY}, {_VACUUM}")
