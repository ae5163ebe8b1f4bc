"""Two runs beside one another, from their short rows: what did not change is counted, and not read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import CTE, Connection, Select, and_, exists, func, or_, select

from assay.ports.browsing import JobPair, RunPair
from assay.stores.history_tables import case_state, results, runs
from assay.stores.run_names import cell_count
from assay.stores.statements import among, chunks

FIRST_LOOK = 50
"""Jobs by which the run before, and cells of both runs, are looked for first: most often the one just before has them all."""

_state, _before = case_state.c, results.alias("before")
_NAMED = (_state.number, _state.job_key, _state.case, _state.flow, _state.kind)
_IN_ORDER = (_state.case, _state.flow, _state.kind.desc(), _state.number)
"""Verifying before measuring."""
Sides = tuple[tuple[str, str] | None, tuple[str, str] | None]
"""Outcome and word in the old run, and in the new one."""


def run_pair(connection: Connection, old: int, new: int) -> RunPair:
    """See `ports.Browsable.run_pair`. Of two runs with nothing in common every cell would be one that changed: none is read."""
    differing = _joined if connection.dialect.name == "postgresql" else _counted
    changed, common = differing(connection, old, new)
    if not common:
        return RunPair((), cell_count(connection, [old, new]), 0)
    jobs = _jobs_beside(connection, sorted(changed))
    others = [job.number for job in jobs if job.number not in changed]
    pairs = _pairs(jobs, {**changed, **_looked_up(connection, old, new, others)})
    # Where the old run has no job of its own every cell is one of the new run.
    gone = any(after is None for _, after in changed.values())
    return RunPair(tuple(pairs), cell_count(connection, [old, new] if gone else [new]), common)


def _joined(connection: Connection, old: int, new: int) -> tuple[dict[int, Sides], int]:
    """Those jobs that stand in the two runs in two ways, and how many jobs are in both. The results of a run lie beside one another in the
    table and in the index of runs, so each run is read once, and both are put together by job."""
    row = results.c
    before, after = (select(row.job, row.outcome, row.word).where(row.run == run).subquery() for run in (old, new))
    sides = (before.c.outcome, before.c.word, after.c.outcome, after.c.word)
    named = zip(sides, ("old_outcome", "old_word", "new_outcome", "new_word"), strict=True)
    query = select(func.coalesce(before.c.job, after.c.job).label("job"), *(side.label(name) for side, name in named))
    both = query.select_from(before.join(after, before.c.job == after.c.job, full=True)).cte("both")
    here, of_both = both.c, _common(both).scalar_subquery()
    differs = or_(here.old_outcome.is_distinct_from(here.new_outcome), here.old_word.is_distinct_from(here.new_word))
    rows = connection.execute(select(both, of_both.label("common")).where(differs, of_both > 0)).all()
    common = rows[0].common if rows else int(connection.scalar(_common(both)) or 0)
    return {row.job: _sides(row) for row in rows}, common


def _counted(connection: Connection, old: int, new: int) -> tuple[dict[int, Sides], int]:
    """The same of SQLite, which has no full join where it is older: a job that stands in both runs in one way is counted twice. By `job`
    itself it would look for each in the index of jobs, where every job has a page of its own."""
    row, of_runs = results.c, results.c.run.in_((old, new))
    job = (row.job + 0).label("job")
    all_of_both = select(func.count()).where(of_runs)
    if old == new:
        return {}, int(connection.scalar(all_of_both) or 0)
    once = select(
        job, row.outcome, row.word, func.min(row.run).label("run"), all_of_both.scalar_subquery().label("of_both")
    ).where(of_runs)
    rows = connection.execute(once.group_by(job, row.outcome, row.word).having(func.count() < 2)).all()
    sides: dict[int, Sides] = {}
    for entry in rows:
        before, after = sides.get(entry.job, (None, None))
        word = entry.outcome, entry.word
        sides[entry.job] = (word, after) if entry.run == old else (before, word)
    of_both = rows[0].of_both if rows else connection.scalar(all_of_both)
    twice = (int(of_both or 0) - len(rows)) // 2
    return sides, twice + sum(before is not None and after is not None for before, after in sides.values())


def _common(both: CTE) -> Select[Any]:
    """How many jobs are in both."""
    return (
        select(func.count()).select_from(both).where(both.c.old_outcome.is_not(None), both.c.new_outcome.is_not(None))
    )


def _sides(row: Any) -> Sides:
    old, new = ((row.old_outcome, row.old_word), (row.new_outcome, row.new_word))
    return None if old[0] is None else old, None if new[0] is None else new


def same_cells(
    connection: Connection, old: int, new: int, changed: Collection[tuple[str, str]], first: int, count: int
) -> list[JobPair]:
    """See `ports.Browsable.same_cells`. Looked for among the first jobs in the order of the index, which most often has enough of them;
    else among all. Each is a question of its own: of both in one PostgreSQL makes a plan of half a second where its statistics are older
    than the two runs, for up to a minute after they were recorded."""
    last = first + count + len(changed)
    jobs, sides = _first_jobs(connection, old, new, 2 * last + FIRST_LOOK)
    cells = _cells_in(jobs, sides)
    if len(cells) < last:
        numbers = select(results.c.job).where(results.c.run.in_((old, new)))
        in_order = select(func.min(_state.number)).where(_state.number.in_(numbers)).group_by(_state.case, _state.flow)
        firsts = connection.scalars(in_order.order_by(_state.case, _state.flow).limit(last)).all()
        jobs = _jobs_beside(connection, firsts)
        sides = _looked_up(connection, old, new, [job.number for job in jobs])
        cells = _cells_in(jobs, sides)
    same = [cell for cell in cells[:last] if cell not in changed][first : first + count]
    chosen = set(same)
    return _pairs((job for job in jobs if (job.case, job.flow) in chosen), sides)


def _first_jobs(connection: Connection, old: int, new: int, most: int) -> tuple[list[Any], dict[int, Sides]]:
    """The first jobs, so many at most, in the order of the index, and how they stand in both runs. Not those of the last cell, which may
    have others."""
    jobs = list(connection.execute(select(*_NAMED).order_by(*_IN_ORDER).limit(most)).all())
    if len(jobs) == most:
        last = jobs[-1].case, jobs[-1].flow
        jobs = [job for job in jobs if (job.case, job.flow) != last]
    return jobs, _looked_up(connection, old, new, [job.number for job in jobs])


def _cells_in(jobs: Iterable[Any], sides: Collection[int]) -> list[tuple[str, str]]:
    """Those that a run has, in the order of the jobs."""
    return list(dict.fromkeys((job.case, job.flow) for job in jobs if job.number in sides))


def _jobs_beside(connection: Connection, numbers: Sequence[int]) -> list[Any]:
    """All jobs of the cells of these, those of a cell beside one another."""
    named = case_state.alias("named")
    same_cell = and_(named.c.case == _state.case, named.c.flow == _state.flow)
    query = select(*_NAMED).join(named, same_cell).order_by(*_IN_ORDER).distinct()
    jobs = {
        job.number: job
        for some in chunks(numbers)
        for job in connection.execute(query.where(among(connection, named.c.number, some))).all()
    }
    return list(jobs.values())


def _looked_up(connection: Connection, old: int, new: int, jobs: Sequence[int]) -> dict[int, Sides]:
    """Of those that a run has, by number."""
    row = results.c
    query = select(row.job, row.run, row.outcome, row.word).where(row.run.in_((old, new)))
    words = {
        (entry.job, entry.run): (entry.outcome, entry.word)
        for some in chunks(jobs)
        for entry in connection.execute(query.where(among(connection, row.job, some))).all()
    }
    return {job: (words.get((job, old)), words.get((job, new))) for job, _ in words}


def _pairs(jobs: Iterable[Any], sides: Mapping[int, Sides]) -> list[JobPair]:
    """Of those jobs that a run has."""
    return [JobPair(job.job_key, job.case, job.flow, *sides[job.number]) for job in jobs if job.number in sides]


def previous_run(connection: Connection, run_id: str) -> str:
    """See `ports.Browsable.previous_run`. Most often the run just before has one of the first jobs; else all jobs are looked
    for in all runs."""
    run, row = runs.c, results.c
    before = run.id < run_id, run.status == "complete"
    number = select(run.number).where(run.id == run_id).scalar_subquery()
    just_before = select(run.number, run.id).where(*before).order_by(run.id.desc()).limit(1).subquery()
    first = select(row.job).where(row.run == number).limit(FIRST_LOOK)
    of_first = select(_before.c.number).where(_before.c.run == just_before.c.number, _before.c.job.in_(first))
    its_id = connection.scalar(select(just_before.c.id).where(exists(of_first.correlate(just_before))))
    if its_id is not None:
        return str(its_id)
    mine = select(row.job).where(row.run == number).subquery()
    has_one = exists().where(_before.c.run == run.number, _before.c.job == mine.c.job)
    return connection.scalar(select(run.id).where(*before, has_one).order_by(run.id.desc()).limit(1)) or ""
