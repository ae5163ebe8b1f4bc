"""The first schema that is released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make all tables."""
    _make_runs()
    _make_jobs()
    _make_results()
    _make_values()
    _make_the_rest()


def _make_runs() -> None:
    """Runs, their models and summaries."""
    op.create_table(
        "runs",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("commit", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
        sa.UniqueConstraint("id", name="uq_runs_id"),
    )
    op.create_index("ix_runs_branch_id", "runs", ["branch", "id"])
    op.create_index("ix_runs_commit", "runs", ["commit"])
    op.create_table(
        "run_payloads",
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("jobs", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_payloads_run"),
        sa.PrimaryKeyConstraint("run", name="pk_run_payloads"),
    )
    op.create_table(
        "run_models",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_models_run"),
        sa.PrimaryKeyConstraint("digest", "run", "name", name="pk_run_models"),
    )
    op.create_index("ix_run_models_name_run", "run_models", ["name", "run"])
    op.create_table(
        "run_summary",
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.Column("recorded", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("other", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_summary_run"),
        sa.PrimaryKeyConstraint("run", name="pk_run_summary"),
    )


def _make_jobs() -> None:
    """Every job, with its present state."""
    op.create_table(
        "case_state",
        sa.Column("number", _NUMBER, nullable=False),
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
        sa.ForeignKeyConstraint(["last_ok"], ["runs.number"], name="fk_case_state_last_ok"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_case_state_run"),
        sa.ForeignKeyConstraint(["since"], ["runs.number"], name="fk_case_state_since"),
        sa.PrimaryKeyConstraint("number", name="pk_case_state"),
        sa.UniqueConstraint("job_key", name="uq_case_state_job_key"),
    )
    op.create_index("ix_case_state_case_flow", "case_state", ["case", "flow"])
    op.create_index("ix_case_state_outcome_since", "case_state", ["outcome", "since"])


def _make_results() -> None:
    """Results, and what they are searched by."""
    op.create_table(
        "results",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("job", _NUMBER, nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("word", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["case_state.number"], name="fk_results_job"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_results_run"),
        sa.PrimaryKeyConstraint("number", name="pk_results"),
        sa.UniqueConstraint("run", "job", name="uq_results_run_job"),
    )
    op.create_index("ix_results_job_run", "results", ["job", "run"])
    op.create_table(
        "result_payloads",
        sa.Column("result", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["result"], ["results.number"], name="fk_result_payloads_result"),
        sa.PrimaryKeyConstraint("result", name="pk_result_payloads"),
    )
    op.create_table(
        "result_codes",
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("job", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["case_state.number"], name="fk_result_codes_job"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_result_codes_run"),
        sa.PrimaryKeyConstraint("code", "run", "job", "about", name="pk_result_codes"),
        sqlite_with_rowid=False,
    )


def _make_values() -> None:
    """Metrics as numbers."""
    op.create_table(
        "constants",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_constants"),
        sa.UniqueConstraint("digest", name="uq_constants_digest"),
    )
    op.create_table(
        "metric_values",
        sa.Column("job", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("run", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("names", _NUMBER, nullable=False),
        sa.Column("versions", _NUMBER, nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("job", "run", name="pk_metric_values"),
        sqlite_with_rowid=False,
    )


def _make_the_rest() -> None:
    """What people write, and what they are told."""
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
    )
    op.create_table(
        "kept_folders",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_kept_folders"),
    )
    op.create_table(
        "run_annotations",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("case", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_annotations_run"),
        sa.PrimaryKeyConstraint("number", name="pk_run_annotations"),
    )
    op.create_index("ix_run_annotations_case_flow", "run_annotations", ["case", "flow"])
    op.create_index("ix_run_annotations_run", "run_annotations", ["run"])
