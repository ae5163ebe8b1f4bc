"""Two runs beside one another, from their short rows: what did not change is counted, and not read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select

from assay.ports.browsing import JobPair, RunPair
from assay.stores.search import of_cells
from assay.stores.statements import chunks
from assay.stores.tables import case_state, results, runs

FIRST_LOOK = 50
"""Jobs by which the run before, and cells of both runs, are looked for first: most often the one just before has them all."""

_state, _before, _after = case_state.c, results.alias("before"), results.alias("after")


def run_pair(connection: Connection, old: int, new: int) -> RunPair:
    """See `ports.Browsable.run_pair`. Of two runs with nothing in common every cell would be one that changed: none is read."""
    before = connection.scalar(select(func.count()).where(results.c.run == old)) or 0
    gone = connection.scalars(_of(old, results.c.job).except_(_of(new, results.c.job))).all()
    common = before - len(gone)
    if not common:
        return RunPair((), _cells(connection, old, new), 0)
    columns = results.c.job, results.c.outcome, results.c.word
    changed = connection.scalars(_of(new, *columns).except_(_of(old, *columns))).all()
    cells = _cells_of(connection, [*changed, *gone])
    # Where the old run has no job of its own every cell is one of the new run.
    return RunPair(tuple(_pairs(connection, old, new, cells)), _cells(connection, old if gone else new, new), common)


def same_cells(
    connection: Connection, old: int, new: int, changed: Collection[tuple[str, str]], first: int, count: int
) -> list[JobPair]:
    """See `ports.Browsable.same_cells`. Looked for among the first jobs in the order of the index, which most often has enough of them;
    else among all. Each is a question of its own: of both in one PostgreSQL makes a plan of half a second where its statistics are older
    than the two runs, for up to a minute after they were recorded."""
    last = first + count + len(changed)
    cells = _first_cells(connection, (old, new), 2 * last + FIRST_LOOK)
    if len(cells) < last:
        jobs = select(results.c.job).where(results.c.run.in_((old, new)))
        in_order = select(_state.case, _state.flow).where(_state.number.in_(jobs)).distinct()
        rows = connection.execute(in_order.order_by(_state.case, _state.flow).limit(last))
        cells = [(row.case, row.flow) for row in rows]
    same = [cell for cell in cells[:last] if cell not in changed]
    return _pairs(connection, old, new, same[first : first + count])


def _first_cells(connection: Connection, both: tuple[int, int], most: int) -> list[tuple[str, str]]:
    """Of the first jobs, so many at most, those cells that one of the runs has."""
    query = select(_state.number, _state.case, _state.flow).order_by(_state.case, _state.flow)
    rows = connection.execute(query.limit(most)).all()
    here = {
        job
        for some in chunks([row.number for row in rows])
        for job in connection.scalars(select(results.c.job).where(results.c.run.in_(both), results.c.job.in_(some)))
    }
    return list(dict.fromkeys((row.case, row.flow) for row in rows if row.number in here))


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


def _of(run: int, *columns: ColumnElement[Any]) -> Select[Any]:
    """Of all results of a run, which lie beside one another in the table and in the index of runs. What two runs do not share is asked for
    as a difference of such sets: a join would look for each job in the index of jobs, where every job has a page of its own."""
    return select(*columns).where(results.c.run == run)


def _cells_of(connection: Connection, jobs: Sequence[int]) -> list[tuple[str, str]]:
    return sorted(
        {
            (row.case, row.flow)
            for some in chunks(sorted(jobs))
            for row in connection.execute(select(_state.case, _state.flow).where(_state.number.in_(some)))
        }
    )


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
            before, after = (None if pair[0] is None else pair for pair in (tuple(row[3:5]), tuple(row[5:7])))
            if (row.case, row.flow) in wanted and (before or after):
                job_pairs.append(JobPair(row.job_key, row.case, row.flow, before, after))
    return job_pairs
