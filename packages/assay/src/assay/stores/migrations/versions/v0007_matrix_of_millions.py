"""A page of a matrix goes by names: those of a run lie beside its summary, those of the present state in two indexes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Runs that were recorded before have no names beside them: those are collected when a page asks for them."""
    op.add_column("run_summary", sa.Column("names", sa.LargeBinary(), nullable=True))
    for columns in (["outcome", "word", "case", "flow"], ["flow", "outcome", "word"]):
        op.create_index(f"ix_case_state_{'_'.join(columns)}", "case_state", columns)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE case_state SET (fillfactor = 50)")
