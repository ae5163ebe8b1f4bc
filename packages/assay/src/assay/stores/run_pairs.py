"""Two runs beside one another, from their short rows: what did not change is counted, and not read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from assay.ports.browsing import JobPair, RunPair
from assay.stores.search import of_cells
from assay.stores.statements import chunks
from assay.stores.tables import case_state, results, runs

FIRST_LOOK = 50
"""Jobs by which the run before is looked for first: most often the one just before has them all."""

_state, _before, _after = case_state.c, results.alias("before"), results.alias("after")


def run_pair(connection: Connection, old: int, new: int) -> RunPair:
    """See `ports.Browsable.run_pair`. Of two runs with nothing in common every cell would be one that changed: none is read."""
    both, of_old = (
        select(func.count()).select_from(statement.subquery()).scalar_subquery()
        for statement in (_both(old, new), _of(old))
    )
    common, before = connection.execute(select(both, of_old)).one()
    if not common:
        return RunPair((), _cells(connection, old, new), 0)
    # Where the old run has no job of its own, none is gone, and every cell is one of the new run.
    is_gone = common < before
    cells = sorted({(row.case, row.flow) for row in connection.execute(_changed(old, new, is_gone=is_gone))})
    return RunPair(tuple(_pairs(connection, old, new, cells)), _cells(connection, old if is_gone else new, new), common)


def same_cells(
    connection: Connection, old: int, new: int, changed: Collection[tuple[str, str]], first: int, count: int
) -> list[JobPair]:
    """See `ports.Browsable.same_cells`. In the order of an index: what comes after the last one is not looked at."""
    here = exists().where(_before.c.run.in_((old, new)), _before.c.job == _state.number)
    query = select(_state.case, _state.flow).where(here).distinct().order_by(_state.case, _state.flow)
    rows = connection.execute(query.limit(first + count + len(changed)))
    cells = [(row.case, row.flow) for row in rows if (row.case, row.flow) not in changed]
    return _pairs(connection, old, new, cells[first : first + count])


def previous_run(connection: Connection, run_id: str, number: int) -> str:
    """See `ports.Browsable.previous_run`. The first look is enough where it finds the run just before: of another one, a job that it did
    not ask for may be in a newer run."""
    before = runs.c.id < run_id, runs.c.status == "complete"
    just_before = connection.scalar(select(func.max(runs.c.id)).where(*before))
    jobs, candidate = select(results.c.job).where(results.c.run == number), None
    for some in (jobs.limit(FIRST_LOOK), jobs):
        mine = some.subquery()
        has_one = exists().where(_before.c.run == runs.c.number, _before.c.job == mine.c.job)
        query = select(runs.c.id).where(*before, has_one).order_by(runs.c.id.desc()).limit(1)
        candidate = connection.scalar(query)
        if candidate == just_before:
            break
    return candidate or ""


def _changed(old: int, new: int, *, is_gone: bool) -> Select[Any]:
    """Cells of which a job differs."""
    same = and_(_before.c.run == old, _before.c.job == _after.c.job)
    differs = or_(_before.c.job.is_(None), _before.c.outcome != _after.c.outcome, _before.c.word != _after.c.word)
    here = select(_after.c.job).outerjoin(_before, same).where(_after.c.run == new, differs)
    gone = select(_before.c.job).where(_before.c.run == old, ~_in(new, _before.c.job))
    jobs = here.union_all(gone) if is_gone else here
    return select(_state.case, _state.flow).where(_state.number.in_(jobs)).distinct()


def _in(run: int, job: ColumnElement[int]) -> ColumnElement[bool]:
    other = results.alias("other")
    return exists().where(other.c.run == run, other.c.job == job)


def _both(old: int, new: int) -> Select[Any]:
    return select(_after.c.job).where(_after.c.run == new, _in(old, _after.c.job))


def _of(run: int) -> Select[Any]:
    return select(results.c.job).where(results.c.run == run)


def _cells(connection: Connection, *some: int) -> int:
    """How many those runs have together."""
    jobs = select(results.c.job).where(results.c.run.in_(set(some)))
    cells = select(_state.case, _state.flow).where(_state.number.in_(jobs)).distinct()
    return int(connection.scalar(select(func.count()).select_from(cells.subquery())) or 0)


def _pairs(connection: Connection, old: int, new: int, cells: Sequence[tuple[str, str]]) -> list[JobPair]:
    """All jobs of these cells, verifying before measuring."""
    job_pairs: list[JobPair] = []
    sides = (_before.c.outcome, _before.c.word), (_after.c.outcome, _after.c.word)
    named = (_state.job_key, _state.case, _state.flow)
    query = (
        select(*named, *(column.label(f"said{at}") for at, column in enumerate((*sides[0], *sides[1]))))
        .outerjoin(_before, and_(_before.c.run == old, _before.c.job == _state.number))
        .outerjoin(_after, and_(_after.c.run == new, _after.c.job == _state.number))
        .order_by(_state.case, _state.flow, _state.kind.desc(), _state.number)
    )
    for some in chunks(list(cells)):
        wanted = set(some)
        for row in connection.execute(query.where(of_cells(some))):
            before, after = (None if said[0] is None else said for said in (tuple(row[3:5]), tuple(row[5:7])))
            if (row.case, row.flow) in wanted and (before or after):
                job_pairs.append(JobPair(row.job_key, row.case, row.flow, before, after))
    return job_pairs
