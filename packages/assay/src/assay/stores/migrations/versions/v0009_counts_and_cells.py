"""In PostgreSQL, too, the counts of the first page are kept with every change; which cells of a run stand how is kept with its names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.stores.run_names import keep_run_names

revision = "0009"
down_revision = "0008"

_FUNCTION = (
    "CREATE OR REPLACE FUNCTION {0}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "INSERT INTO state_changes (axis, name, outcome, word, jobs) SELECT axis, name, outcome, word, sum(step) FROM ({1}) AS steps "
    "GROUP BY axis, name, outcome, word HAVING sum(step) <> 0; RETURN NULL; END $$"
)
_ADDED = " UNION ALL ".join(
    f"SELECT '{axis}' AS axis, \"{axis}\" AS name, outcome, word, 1 AS step FROM new_rows" for axis in ("case", "flow")
)
_CHANGED = " UNION ALL ".join(
    f"SELECT '{axis}' AS axis, \"{axis}\" AS name, outcome, word, {step} AS step FROM {table}"
    for table, step in (("old_rows", -1), ("new_rows", 1))
    for axis in ("case", "flow")
)
_TRIGGERS = (
    "CREATE TRIGGER case_state_added AFTER INSERT ON case_state REFERENCING NEW TABLE AS new_rows "
    "FOR EACH STATEMENT EXECUTE FUNCTION assay_count_added()",
    "CREATE TRIGGER case_state_changed AFTER UPDATE ON case_state REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows "
    "FOR EACH STATEMENT EXECUTE FUNCTION assay_count_changed()",
)
_COUNT = """INSERT INTO state_counts SELECT '{0}', "{0}", outcome, word, count(*) FROM case_state GROUP BY "{0}", outcome, word"""
_RIGHTS = """DO $$ DECLARE role text; writes boolean; BEGIN
FOR role, writes IN
    SELECT CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END, bool_or(privilege_type = 'INSERT')
    FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
    WHERE pg_class.oid = 'case_state'::regclass AND privilege_type IN ('SELECT', 'INSERT') GROUP BY grantee
LOOP
    EXECUTE 'GRANT SELECT ON state_counts, state_changes, run_cells TO ' || role;
    IF writes THEN
        EXECUTE 'GRANT INSERT, UPDATE ON state_counts, state_changes, run_cells TO ' || role;
        EXECUTE 'GRANT DELETE ON state_changes, run_cells TO ' || role;
        EXECUTE 'GRANT USAGE ON SEQUENCE state_changes_number_seq TO ' || role;
    END IF;
END LOOP; END $$"""
"""Who reads the present state reads the new tables, who adds to it adds to them: the triggers run with the rights of who records.
`state_counts` is older, but those who were granted before it was made have no rights on it."""
_LOOKED_AT = 2_000_000
"""Results whose names and cells are collected at once, some seconds: of runs before those a page collects them each time."""


def upgrade() -> None:
    """Every job is looked at once. No writer comes between the triggers and the first count: who makes a trigger holds the table."""
    op.create_table(
        "state_changes",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("axis", "name", "outcome", "word")),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_state_changes"),
        postgresql_with={"autovacuum_vacuum_scale_factor": 0, "autovacuum_vacuum_threshold": 5000},
    )
    op.create_table(
        "run_cells",
        sa.Column("run", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, autoincrement=False),
        sa.Column("kind", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("cells", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run", "kind", name="pk_run_cells"),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_run_cells_run"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_FUNCTION.format("assay_count_added", _ADDED))
        op.execute(_FUNCTION.format("assay_count_changed", _CHANGED))
        for statement in _TRIGGERS:
            op.execute(statement)
        for axis in ("case", "flow"):
            op.execute(_COUNT.format(axis))
        op.execute(_RIGHTS)
    _keep_names()


def _keep_names() -> None:
    """Of the newest runs, the very newest at least."""
    query = "SELECT run, recorded FROM run_summary JOIN runs ON runs.number = run ORDER BY id DESC"
    left = _LOOKED_AT
    for run, recorded in op.get_bind().execute(sa.text(query)).all():
        if left <= 0:
            break
        keep_run_names(op.get_bind(), run)
        left -= recorded
