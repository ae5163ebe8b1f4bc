"""How everything stands: what blocks, what changed, what is flaky."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice

from sqlalchemy import Connection, ScalarSelect, func, or_, select, text

from assay.core.outcome import Outcome
from assay.ports.browsing import JobState, Standing, Unsteady
from assay.stores import state_parts
from assay.stores.dashboard_queries import state_of, state_rows
from assay.stores.history_tables import case_state, results, runs
from assay.stores.state_counts import as_number, flow_counts, worst_cases
from assay.stores.statements import by_code

TURNS = 2
"""From ok to another outcome, or back, so often: it is unsteady. One turn is a defect, or its repair."""

_MANY = 400
"""Jobs in one statement."""
_state = case_state.c


def standing(connection: Connection, days: float, looked_at: int, limit: int) -> Standing:
    """See `ports.Browsable.standing`. Each list goes from the newest run on which a job stands so, by the index of its part."""
    recent = _recent(connection, days)

    def states(numbers: Iterable[int]) -> tuple[JobState, ...]:
        first = list(islice(numbers, limit))
        by_number = state_rows().where(_state.number.in_(first))
        place = {number: place for place, number in enumerate(first)}
        rows = sorted(connection.execute(by_number), key=lambda row: place[row.number])
        return tuple(map(state_of, rows))

    of_cases, cases = worst_cases(connection, limit)
    return Standing(
        recent,
        flow_counts(connection),
        red=states(_newest(connection, state_parts.RED, limit)),
        newly_red=states(_newest(connection, state_parts.RED_ONCE_OK, limit, recent)),
        newly_green=states(_were_not_ok(connection, _newest(connection, state_parts.GREEN, _MANY, recent))),
        inconclusive=states(_newest(connection, state_parts.INCONCLUSIVE, limit)),
        turning=_turning(connection, looked_at, limit),
        of_cases=of_cases,
        cases=cases,
    )


def _newest(connection: Connection, part: str, at_once: int, recent: str = "") -> Iterator[int]:
    """The jobs of a part, those first that are so since the newest run; not those that are so since before the run `recent`."""
    condition = text(part)
    of_part = select(func.max(_state.since)).where(condition)
    walk = of_part.with_only_columns(func.max(_state.since).label("since")).cte("walk", recursive=True)
    earlier = of_part.where(_state.since < walk.c.since).correlate(walk).scalar_subquery()
    walk = walk.union_all(select(earlier).where(walk.c.since.is_not(None)))
    its_runs = select(runs.c.number).join(walk, walk.c.since == runs.c.number).where(runs.c.id >= recent)
    for run in connection.scalars(its_runs.order_by(runs.c.id.desc())).all():
        key = by_code(connection, _state.job_key)
        query = select(_state.number, _state.job_key).where(condition, _state.since == run).order_by(key).limit(at_once)
        rows = connection.execute(query).all()
        yield from (row.number for row in rows)
        while len(rows) == at_once:
            rows = connection.execute(query.where(key > rows[-1].job_key)).all()
            yield from (row.number for row in rows)


def _began() -> ScalarSelect[str]:
    """The id of the run since which a job is as it is."""
    since = runs.alias("since_run")
    return select(since.c.id).where(since.c.number == _state.since).correlate(case_state).scalar_subquery()


def _were_not_ok(connection: Connection, numbers: Iterator[int]) -> Iterator[int]:
    """The jobs of these that were not ok in a run before they became what they are. Most often that is the last one before; where runs are
    written late it may be any earlier one. Looked for job by job: as a part of one query PostgreSQL joins all runs for each job, or looks
    at every job."""
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
    while some := list(islice(numbers, _MANY)):
        having = set(connection.scalars(select(_state.number).where(_state.number.in_(some), had_earlier)))
        yield from (number for number in some if number in having)


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
    """Jobs that have changed since the first of these runs, and were not always ok, are the only ones that can have turned in them."""
    newest = connection.scalars(select(runs.c.number).order_by(runs.c.id.desc()).limit(looked_at)).all()
    since = _state.outcome.in_([outcome.value for outcome in Outcome]), _state.since.in_(newest[: looked_at - 1])
    changed = select(_state.number).where(text(state_parts.WAS_NOT_OK), *since).limit(50 * limit)
    is_ok = (results.c.outcome == Outcome.OK.value).label("is_ok")
    was_ok = func.lag(results.c.outcome == Outcome.OK.value).over(partition_by=results.c.job, order_by=runs.c.id)
    states = (
        select(results.c.job, is_ok, was_ok.label("was_ok"))
        .join(runs, runs.c.number == results.c.run)
        .where(results.c.job.in_(changed), results.c.run.in_(newest))
        .subquery()
    )
    turns = func.sum(func.coalesce(func.abs(as_number(states.c.is_ok) - as_number(states.c.was_ok)), 0))
    counted = (
        select(states.c.job, turns.label("turns"), func.count().label("results"))
        .group_by(states.c.job)
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
