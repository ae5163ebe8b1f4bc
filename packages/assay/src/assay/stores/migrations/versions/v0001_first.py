"""The first schema: runs, their results, what both are searched by, the summary of each run and the present state of each job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the six tables."""
    _make_records()
    _make_searched()
    _make_summaries()


def _make_records() -> None:
    """Of runs and of their results."""
    op.create_table(
        "runs",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
        sa.UniqueConstraint("id", name="uq_runs_id"),
    )
    op.create_index("ix_runs_commit", "runs", ["commit"])
    op.create_table(
        "results",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("job_key", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_results"),
        sa.UniqueConstraint("run", "job_key", name="uq_results_run_job_key"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_results_run"),
    )
    op.create_index("ix_results_case_flow_run", "results", ["case", "flow", "run"])


def _make_searched() -> None:
    """The models of each run, and the codes of each result."""
    op.create_table(
        "run_models",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("digest", "run", "name", name="pk_run_models"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_models_run"),
    )
    op.create_index("ix_run_models_name_run", "run_models", ["name", "run"])
    op.create_table(
        "result_codes",
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("job_key", sa.String(), nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("code", "run", "job_key", "about", name="pk_result_codes"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_result_codes_run"),
    )


def _make_summaries() -> None:
    """Of each run, and the present state of each job."""
    op.create_table(
        "run_summary",
        sa.Column("run", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.Column("recorded", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("other", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run", name="pk_run_summary"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_summary_run"),
    )
    op.create_table(
        "case_state",
        sa.Column("job_key", sa.String(), nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("since", _NUMBER, nullable=False),
        sa.Column("streak", sa.Integer(), nullable=False),
        sa.Column("last_ok", _NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("job_key", name="pk_case_state"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_case_state_run"),
        sa.ForeignKeyConstraint(["since"], ["runs.number"], name="fk_case_state_since"),
        sa.ForeignKeyConstraint(["last_ok"], ["runs.number"], name="fk_case_state_last_ok"),
    )
    op.create_index("ix_case_state_outcome", "case_state", ["outcome"])
