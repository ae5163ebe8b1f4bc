"""Questions that go by an index: the results of one cell through all runs, the run before, runs by what is known of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, and_, exists, func, or_, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from assay.core.job_base import JobKind
from assay.ports import RunSearch
from assay.stores.history_tables import case_state, result_codes, result_payloads, results, run_models, runs
from assay.stores.statements import among, chunks


def cell_rows(case: str, flow: str) -> Select[tuple[str, str, str, str, bytes]]:
    """Id, start, commit, machine and payload: newest run first, the results of one run in their order."""
    run = runs.c
    return (
        select(run.id, run.started_at, run.commit, run.machine, result_payloads.c.payload)
        .join(results, run.number == results.c.run)
        .join(result_payloads, result_payloads.c.result == results.c.number)
        .where(results.c.job.in_(jobs_of(case, flow)))
        .order_by(run.id.desc(), results.c.number)
    )


def jobs_of(case: str, flow: str) -> Select[tuple[int]]:
    """The numbers of the jobs of one cell."""
    return select(case_state.c.number).where(case_state.c.case == case, case_state.c.flow == flow)


def _of_cells(connection: Connection, cells: Sequence[tuple[str, str]]) -> ColumnElement[bool]:
    """The jobs of these cells, by the index of cells, and some others of the same cases and flows. SQLite answers a list of pairs by a look
    at every job."""
    cases, flows = ({cell[place] for cell in cells} for place in (0, 1))
    state = case_state.c
    return and_(among(connection, state.case, sorted(cases)), among(connection, state.flow, sorted(flows)))


def jobs_of_cells(connection: Connection, cells: Sequence[tuple[str, str]]) -> dict[int, Any]:
    """Number, kind, case and flow by the number."""
    state, chosen = case_state.c, set(cells)
    query = select(state.number, state.kind, state.case, state.flow)
    return {
        row.number: row
        for some in chunks(list(cells))
        for row in connection.execute(query.where(_of_cells(connection, some))).all()
        if (row.case, row.flow) in chosen
    }


def verify_first(job: Any) -> tuple[bool, int]:
    """What the jobs of one cell are sorted by: what several record is that of the first."""
    return job.kind != JobKind.VERIFY.value, job.number


def run_before(connection: Connection, run_id: str, cells: Collection[tuple[str, str]]) -> str:
    """Each look is for a run that is newer than what was found: most often the run just before has a cell of the first few."""
    before = runs.c.id < run_id, runs.c.status == "complete"
    just_before = connection.scalar(select(func.max(runs.c.id)).where(*before))
    before_this = ""
    for some in chunks(_jobs(connection, cells)):
        has_one = exists().where(results.c.run == runs.c.number, results.c.job.in_(some))
        query = select(runs.c.id).where(*before, runs.c.id > before_this, has_one).order_by(runs.c.id.desc()).limit(1)
        before_this = connection.scalar(query) or before_this
        if before_this == just_before:
            break
    return before_this


def _jobs(connection: Connection, cells: Collection[tuple[str, str]]) -> list[int]:
    chosen = set(cells)
    rows = (
        row
        for some in chunks(sorted({case for case, _ in chosen}))
        for row in connection.execute(select(case_state).where(case_state.c.case.in_(some)))
    )
    return [row.number for row in rows if (row.case, row.flow) in chosen]


def searched(search: RunSearch) -> list[ColumnElement[bool]]:
    """What a run must fulfil."""
    conditions: list[ColumnElement[bool]] = []
    if search.commit:
        conditions.append(begins_with(runs.c.commit, search.commit))
    if search.machine:
        conditions.append(func.lower(runs.c.machine).contains(search.machine.lower(), autoescape=True))
    if search.model:
        named = or_(begins_with(run_models.c.digest, search.model), run_models.c.name == search.model)
        conditions.append(runs.c.number.in_(select(run_models.c.run).where(named)))
    if search.branch:
        conditions.append(runs.c.branch == search.branch)
    if search.before:
        conditions.append(runs.c.id < search.before)
    if search.code:
        conditions.append(runs.c.number.in_(select(result_codes.c.run).where(result_codes.c.code == search.code)))
    return conditions


def begins_with(column: ColumnElement[str], start: str) -> ColumnElement[bool]:
    """By a range, which an index answers; LIKE needs an index of its own in most databases. `start` is hexadecimal, where the order of
    signs is the same in every collation."""
    return and_(column >= start, column < start + "g")
