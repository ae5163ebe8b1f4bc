"""The first page reads its lists from indexes of a part, and in SQLite its counts from a table that triggers keep."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_RED = (
    "(word IN ('fail', 'xpass', 'error') OR (word = '' AND outcome IN ('mismatch', 'error', 'crash', 'timeout', 'out_of_memory', "
    "'nondeterministic', 'infrastructure')))"
)
_PARTS = {
    "red": (_RED, ["since", "job_key"]),
    "red_once_ok": (f"last_ok IS NOT NULL AND {_RED}", ["since", "job_key"]),
    "inconclusive": ("word = 'inconclusive'", ["since", "job_key"]),
    "was_not_ok": ("was_not_ok = 1", ["outcome", "since", "job_key"]),
}
_OUTCOMES = (
    "'mismatch', 'unsupported', 'undelegated', 'other_precision', 'error', 'crash', 'timeout', 'out_of_memory', 'unavailable', 'lowered', "
    "'nondeterministic', 'mistrusted', 'infrastructure'"
)
_MARK = (
    f"UPDATE case_state SET was_not_ok = 1 WHERE number IN (SELECT job FROM result_codes WHERE code IN ({_OUTCOMES}))"
)
"""Each result that is not ok has its outcome among its codes."""
_COUNT = """INSERT INTO state_counts SELECT '{0}', "{0}", outcome, word, count(*) FROM case_state GROUP BY "{0}", outcome, word"""


def upgrade() -> None:
    """Every job is looked at once."""
    op.add_column("case_state", sa.Column("was_not_ok", sa.Integer(), nullable=False, server_default="0"))
    op.execute(_MARK)
    for name, (part, columns) in _PARTS.items():
        condition = sa.text(part)
        op.create_index(
            f"ix_case_state_{name}", "case_state", columns, sqlite_where=condition, postgresql_where=condition
        )
    op.create_table(
        "state_counts",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("axis", "name", "outcome", "word")),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("axis", "name", "outcome", "word", name="pk_state_counts"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        _keep_counts()


def _keep_counts() -> None:
    for axis in ("case", "flow"):
        op.execute(_COUNT.format(axis))
    less, more = (
        " ".join(
            f"INSERT INTO state_counts VALUES ('{axis}', {row}.\"{axis}\", {row}.outcome, {row}.word, {step}) "
            "ON CONFLICT (axis, name, outcome, word) DO UPDATE SET jobs = jobs + excluded.jobs;"
            for axis in ("case", "flow")
        )
        for row, step in (("OLD", -1), ("NEW", 1))
    )
    changed = " OR ".join(f'OLD."{name}" <> NEW."{name}"' for name in ("word", "outcome", "case", "flow"))
    op.execute(f"CREATE TRIGGER case_state_added AFTER INSERT ON case_state BEGIN {more} END")
    op.execute(
        'CREATE TRIGGER case_state_changed AFTER UPDATE OF "case", flow, outcome, word ON case_state '
        f"WHEN {changed} BEGIN {less} {more} END"
    )
