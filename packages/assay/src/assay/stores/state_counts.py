"""How many jobs of each flow, and of the worst cases, stand how."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Integer, Subquery, cast, func, select, text

from assay.core.verdict import VerdictStatus
from assay.ports.browsing import CaseCount, Count
from assay.stores.dashboard_queries import is_red
from assay.stores.history_tables import state_changes, state_counts
from assay.stores.statements import by_code

_MINE_ALONE = f"SELECT pg_try_advisory_xact_lock({0x617373_6163})"
_ADDED_UP = """WITH gone AS (DELETE FROM state_changes RETURNING axis, name, outcome, word, jobs)
INSERT INTO state_counts (axis, name, outcome, word, jobs)
SELECT axis, name, outcome, word, sum(jobs) FROM gone GROUP BY axis, name, outcome, word HAVING sum(jobs) <> 0
ON CONFLICT (axis, name, outcome, word) DO UPDATE SET jobs = state_counts.jobs + excluded.jobs"""


def flow_counts(connection: Connection) -> tuple[Count, ...]:
    """Of every flow."""
    counts = _counts(connection, "flow").c
    query = select(counts.name, counts.outcome, counts.word, counts.jobs)
    rows = connection.execute(query.order_by(counts.name, counts.outcome, counts.word))
    return tuple(Count(*row) for row in rows)


def worst_cases(connection: Connection, limit: int) -> tuple[tuple[CaseCount, ...], int]:
    """How the jobs of the worst cases stand, and how many cases there are: those with the most red jobs first, then those with the most
    that are inconclusive. Sums over all are the database's; what stands so is read of these alone."""
    counts = _counts(connection, "case").c
    inconclusive = counts.word == VerdictStatus.INCONCLUSIVE.value
    red, undecided = (func.sum(counts.jobs * as_number(so)) for so in (is_red(counts), inconclusive))
    each = select(counts.name, func.count().over().label("cases")).group_by(counts.name)
    worst = connection.execute(
        each.order_by(red.desc(), undecided.desc(), by_code(connection, counts.name)).limit(limit)
    ).all()
    kinds = select(counts.name, counts.outcome, counts.word, counts.jobs).where(
        counts.name.in_([row.name for row in worst])
    )
    rows = connection.execute(kinds.order_by(counts.name, counts.outcome, counts.word)) if worst else ()
    return tuple(CaseCount(*row) for row in rows), int(worst[0].cases) if worst else 0


def _counts(connection: Connection, axis: str) -> Subquery:
    """Name, outcome, word and jobs, as they are kept, with what changed since they were added up."""
    columns = ("name", "outcome", "word", "jobs")
    kept, changes = (
        select(*(table.c[name] for name in columns)).where(table.c.axis == axis)
        for table in (state_counts, state_changes)
    )
    if connection.dialect.name == "sqlite":
        return kept.where(state_counts.c.jobs > 0).subquery()
    all_of_it = kept.union_all(changes).subquery().c
    jobs = func.sum(all_of_it.jobs)
    kinds = all_of_it.name, all_of_it.outcome, all_of_it.word
    return select(*kinds, cast(jobs, Integer).label("jobs")).group_by(*kinds).having(jobs > 0).subquery()


def add_up(connection: Connection) -> None:
    """What changed, into the counts. Who finds another at it leaves it to that one, and waits for nobody."""
    if connection.dialect.name == "postgresql" and connection.scalar(text(_MINE_ALONE)):
        connection.execute(text(_ADDED_UP))


def as_number(condition: Any) -> Any:
    """1 or 0."""
    return cast(condition, Integer)
