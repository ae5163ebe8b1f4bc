"""How the databases keep `state_counts` by themselves, whoever changes the present state.

SQLite has one writer at a time: a trigger changes the counts row by row. PostgreSQL has many: each statement appends by how much it changed
them, and who closes a run adds that up."""

from __future__ import annotations

_AXES = ("case", "flow")

_LESS, _MORE = (
    " ".join(
        f"INSERT INTO state_counts VALUES ('{axis}', {row}.\"{axis}\", {row}.outcome, {row}.word, {step}) "
        "ON CONFLICT (axis, name, outcome, word) DO UPDATE SET jobs = jobs + excluded.jobs;"
        for axis in _AXES
    )
    for row, step in (("OLD", -1), ("NEW", 1))
)
_CHANGED = " OR ".join(f'OLD."{name}" <> NEW."{name}"' for name in ("word", "outcome", *_AXES))


def _appends(name: str, *tables: tuple[str, int]) -> str:
    """A function of PostgreSQL. A job that is as it was is one less and one more of the same."""
    each = " UNION ALL ".join(
        f"SELECT '{axis}' AS axis, \"{axis}\" AS name, outcome, word, {step} AS step FROM {table}"
        for table, step in tables
        for axis in _AXES
    )
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO state_changes (axis, name, outcome, word, jobs) "
        f"SELECT axis, name, outcome, word, sum(step) FROM ({each}) AS steps "
        "GROUP BY axis, name, outcome, word HAVING sum(step) <> 0; RETURN NULL; END $$"
    )


COUNTING = {
    "sqlite": (
        f"CREATE TRIGGER case_state_added AFTER INSERT ON case_state BEGIN {_MORE} END",
        'CREATE TRIGGER case_state_changed AFTER UPDATE OF "case", flow, outcome, word ON case_state '
        f"WHEN {_CHANGED} BEGIN {_LESS} {_MORE} END",
    ),
    "postgresql": (
        _appends("assay_count_added", ("new_rows", 1)),
        _appends("assay_count_changed", ("old_rows", -1), ("new_rows", 1)),
        "CREATE TRIGGER case_state_added AFTER INSERT ON case_state REFERENCING NEW TABLE AS new_rows "
        "FOR EACH STATEMENT EXECUTE FUNCTION assay_count_added()",
        "CREATE TRIGGER case_state_changed AFTER UPDATE ON case_state REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows "
        "FOR EACH STATEMENT EXECUTE FUNCTION assay_count_changed()",
    ),
}
"""Statements that follow the tables, by the name of the database."""
