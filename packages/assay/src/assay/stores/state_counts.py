"""How many jobs of each flow, and of the worst cases, stand how."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Integer, Subquery, cast, func, select

from assay.core.verdict import VerdictStatus
from assay.ports.browsing import CaseCount, Count
from assay.stores.browsing import is_red
from assay.stores.statements import by_code
from assay.stores.tables import case_state, state_counts


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
    """Name, outcome, word and jobs: as SQLite's triggers keep them, and in PostgreSQL counted."""
    kept, state = state_counts.c, case_state.c
    if connection.dialect.name == "sqlite":
        columns = kept.name, kept.outcome, kept.word, kept.jobs
        return select(*columns).where(kept.axis == axis, kept.jobs > 0).subquery()
    kinds = state[axis].label("name"), state.outcome, state.word
    return select(*kinds, func.count().label("jobs")).group_by(*kinds).subquery()


def as_number(condition: Any) -> Any:
    """1 or 0."""
    return cast(condition, Integer)
