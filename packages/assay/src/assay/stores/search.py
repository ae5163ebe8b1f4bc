"""Questions that go by an index: the results of one cell through all runs, the run before, runs by what is known of them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, exists, func, or_, select, tuple_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from assay.ports import RunSearch
from assay.stores.ingest import chunks
from assay.stores.tables import result_codes, results, run_models, runs


def cell_rows(case: str, flow: str) -> Select[tuple[str, str, str, str, bytes]]:
    """Id, start, commit, machine and payload: newest run first, the results of one run in their order."""
    run = runs.c
    return (
        select(run.id, run.started_at, run.commit, run.machine, results.c.payload)
        .join(runs, run.number == results.c.run)
        .where(results.c.case == case, results.c.flow == flow)
        .order_by(run.id.desc(), results.c.number)
    )


def run_before(connection: Connection, run_id: str, cells: Collection[tuple[str, str]]) -> str:
    """Each look is for a run that is newer than what was found: most often the run just before has a cell of the first few."""
    found = ""
    for some in chunks(sorted(cells)):
        has_one = exists().where(results.c.run == runs.c.number, tuple_(results.c.case, results.c.flow).in_(list(some)))
        query = (
            select(runs.c.id)
            .where(runs.c.id < run_id, runs.c.id > found, runs.c.status == "complete", has_one)
            .order_by(runs.c.id.desc())
            .limit(1)
        )
        found = connection.scalar(query) or found
    return found


def searched(search: RunSearch) -> list[ColumnElement[bool]]:
    """What a run must fulfil."""
    asked: list[ColumnElement[bool]] = []
    if search.commit:
        asked.append(begins_with(runs.c.commit, search.commit))
    if search.machine:
        asked.append(func.lower(runs.c.machine).contains(search.machine.lower(), autoescape=True))
    if search.model:
        named = or_(begins_with(run_models.c.digest, search.model), run_models.c.name == search.model)
        asked.append(runs.c.number.in_(select(run_models.c.run).where(named)))
    if search.code:
        asked.append(runs.c.number.in_(select(result_codes.c.run).where(result_codes.c.code == search.code)))
    return asked


def begins_with(column: ColumnElement[str], start: str) -> ColumnElement[bool]:
    """By a range, which an index answers; LIKE needs an index of its own in most databases. `start` is hexadecimal, where the order of
    signs is the same in every collation."""
    return and_(column >= start, column < start + "g")
