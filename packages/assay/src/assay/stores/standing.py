"""How everything stands: what blocks, what changed, what is flaky."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, ScalarSelect, cast, func, or_, select

from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.ports.browsing import CaseCount, Count, JobState, Standing, Unsteady
from assay.stores.browsing import is_red, read_states, state_rows
from assay.stores.statements import by_code, chunks
from assay.stores.tables import case_state, results, runs

TURNS = 2
"""From ok to another outcome, or back, so often: it is unsteady. One turn is a defect, or its repair."""

_state = case_state.c


def standing(connection: Connection, days: float, looked_at: int, limit: int) -> Standing:
    """See `ports.Browsable.standing`."""
    recent = _recent(connection, days)
    red = is_red(_state)
    began = _began()
    is_recent = _state.since.in_(select(runs.c.number).where(runs.c.id >= recent))

    def states(*asked: ColumnElement[bool]) -> tuple[JobState, ...]:
        newest_first = (
            state_rows().where(*asked).order_by(began.desc(), by_code(connection, _state.job_key)).limit(limit)
        )
        return read_states(connection, newest_first)

    green = _state.outcome == Outcome.OK.value, ~red, is_recent
    of_cases, cases = _worst_cases(connection, red, limit)
    each = _state.flow, _state.outcome, _state.word
    grouped = select(*each, func.count()).group_by(*each).order_by(*each)
    return Standing(
        recent,
        tuple(Count(*row) for row in connection.execute(grouped)),
        red=states(red),
        newly_red=states(red, is_recent, _state.last_ok.is_not(None)),
        newly_green=states(_state.number.in_(_were_not_ok(connection, limit, *green))),
        inconclusive=states(_state.word == VerdictStatus.INCONCLUSIVE.value),
        turning=_turning(connection, looked_at, limit),
        of_cases=of_cases,
        cases=cases,
    )


def _worst_cases(connection: Connection, red: ColumnElement[bool], limit: int) -> tuple[tuple[CaseCount, ...], int]:
    """How the jobs of the worst cases stand, and how many cases there are: those with the most red jobs first, then those with the most
    that are inconclusive. Sums over all are the database's; what stands so is read of these alone."""
    jobs_red, undecided = (
        func.sum(_number(condition)) for condition in (red, _state.word == VerdictStatus.INCONCLUSIVE.value)
    )
    each = select(_state.case, func.count().over().label("cases")).group_by(_state.case)
    worst = connection.execute(
        each.order_by(jobs_red.desc(), undecided.desc(), by_code(connection, _state.case)).limit(limit)
    ).all()
    kinds = _state.case, _state.outcome, _state.word
    grouped = select(*kinds, func.count()).where(_state.case.in_([row.case for row in worst]))
    rows = connection.execute(grouped.group_by(*kinds).order_by(*kinds)) if worst else ()
    return tuple(CaseCount(*row) for row in rows), int(worst[0].cases) if worst else 0


def _began() -> ScalarSelect[str]:
    """The id of the run since which a job is as it is."""
    since = runs.alias("since_run")
    return select(since.c.id).where(since.c.number == _state.since).correlate(case_state).scalar_subquery()


def _were_not_ok(connection: Connection, limit: int, *asked: ColumnElement[bool]) -> list[int]:
    """The jobs of these that were not ok in a run before they became what they are, newest first. Most often that is the last one before;
    where runs are written late it may be any earlier one. Looked for job by job: as a part of one query PostgreSQL joins all runs for each
    job, or looks at every job."""
    began, past, row = _began(), runs.alias("past"), results.c
    its_run = select(past.c.id).where(past.c.number == row.run).correlate(results).scalar_subquery()
    not_ok = row.job == _state.number, row.outcome != Outcome.OK.value, its_run < began
    last_before = select(row.outcome).where(row.job == _state.number, row.run < _state.since, its_run < began)
    any_before = select(row.number).where(*not_ok)
    turned, was_ever = (
        query.order_by(row.run.desc()).limit(1).correlate(case_state).scalar_subquery()
        for query in (last_before, any_before)
    )
    had_earlier = or_(func.coalesce(turned, Outcome.OK.value) != Outcome.OK.value, was_ever.is_not(None))
    numbers: list[int] = []
    for some in chunks(
        connection.scalars(
            select(_state.number).where(*asked).order_by(began.desc(), by_code(connection, _state.job_key))
        ).all()
    ):
        having = set(connection.scalars(select(_state.number).where(_state.number.in_(some), had_earlier)))
        numbers += [number for number in some if number in having]
        if len(numbers) >= limit:
            break
    return numbers[:limit]


def _recent(connection: Connection, days: float) -> str:
    """The id of the first run that is recent."""
    newest = connection.scalar(select(runs.c.started_at).order_by(runs.c.id.desc()).limit(1))
    if newest is None:
        return ""
    try:
        begin = (datetime.fromisoformat(newest) - timedelta(days=days)).isoformat(timespec="seconds")
    except ValueError:
        begin = newest
    # Ids sort by time, and are indexed: 20261121T141905-3fa2b1.
    first = begin[:19].replace("-", "").replace(":", "")
    return str(connection.scalar(select(func.min(runs.c.id)).where(runs.c.id >= first)) or "")


def _turning(connection: Connection, looked_at: int, limit: int) -> tuple[Unsteady, ...]:
    """Jobs that have changed since the first of these runs are the only ones that can have turned in them."""
    newest = connection.scalars(select(runs.c.number).order_by(runs.c.id.desc()).limit(looked_at)).all()
    changed = select(_state.number).where(_state.since.in_(newest[: looked_at - 1])).limit(50 * limit)
    is_ok = (results.c.outcome == Outcome.OK.value).label("is_ok")
    was_ok = func.lag(results.c.outcome == Outcome.OK.value).over(partition_by=results.c.job, order_by=runs.c.id)
    seen = (
        select(results.c.job, is_ok, was_ok.label("was_ok"))
        .join(runs, runs.c.number == results.c.run)
        .where(results.c.job.in_(changed), results.c.run.in_(newest))
        .subquery()
    )
    turns = func.sum(func.coalesce(func.abs(_number(seen.c.is_ok) - _number(seen.c.was_ok)), 0))
    counted = (
        select(seen.c.job, turns.label("turns"), func.count().label("results"))
        .group_by(seen.c.job)
        .having(turns >= TURNS)
        .subquery()
    )
    query = (
        select(case_state, runs.c.id.label("run_id"), counted.c.turns, counted.c.results)
        .join(counted, counted.c.job == _state.number)
        .join(runs, runs.c.number == _state.run)
        .order_by(counted.c.turns.desc(), by_code(connection, _state.job_key))
        .limit(limit)
    )
    return tuple(
        Unsteady(row.job_key, row.case, row.flow, row.kind, row.outcome, row.run_id, int(row.turns), int(row.results))
        for row in connection.execute(query)
    )


def _number(condition: Any) -> Any:
    return cast(condition, Integer)
