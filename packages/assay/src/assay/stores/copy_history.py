"""Every run of one history into another, as it is: payloads are not opened, and what is there already is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, bindparam, func, select, true, update
from sqlalchemy.engine import Row

from assay.errors import OtherRun
from assay.stores.history_tables import (
    case_state,
    constants,
    metric_values,
    result_codes,
    result_payloads,
    results,
    run_models,
    run_payloads,
    run_summary,
    runs,
)
from assay.stores.ingest import add_rows, advance, demand_same_run, first_state, job_numbers, jobs_recorded
from assay.stores.run_names import keep_run_names
from assay.stores.sql import SqlStore
from assay.stores.state_counts import add_up
from assay.stores.statements import add_many, chunks, insert_for

_ROWS = 2000
"""In one transaction: what is lost of a copy that is cut off, and copied again by the next."""

_STATUSES = ("running", "interrupted", "complete")
"""In the order in which a run has them: one that was interrupted is gone on with, and then complete."""


def copy_history(source: SqlStore, target: SqlStore, copied: Callable[[str, int], None]) -> tuple[int, int]:
    """How many runs there are, and how many results were new to `target`. `copied` hears of each run, and its results, when it is done.
    A copy that was cut off is gone on with by calling it again. Both raise StoreError in one sentence. A run whose id another one has in
    `target` raises OtherRun when all others are copied."""
    with source.reading() as connection:
        numbers = connection.execute(select(runs.c.number, runs.c.id).order_by(runs.c.number)).all()
    total, others = 0, list[str]()
    same = Constants()
    for number, run_id in numbers:
        try:
            new = _copy_run(source, target, number, same)
        except OtherRun as error:
            others.append(str(error))
            continue
        total += new
        copied(run_id, new)
    _copy_annotations(source, target)
    if others:
        which = "a run" if len(others) == 1 else f"{len(others)} runs, of which the first"
        raise OtherRun(f"all was copied but for {which}: {others[0]}")
    return len(numbers), total


def _copy_annotations(source: SqlStore, target: SqlStore) -> None:
    there = set(map(msgspec.json.encode, target.annotations()))
    for annotation in source.annotations():
        if msgspec.json.encode(annotation) not in there:
            target.add_annotation(annotation)


def _copy_run(source: SqlStore, target: SqlStore, number: int, same: Constants) -> int:
    with source.reading() as connection:
        run = _values(connection.execute(select(runs).where(runs.c.number == number)).one(), without="number")
        whole = _values(connection.execute(select(run_payloads).where(run_payloads.c.run == number)).one())
        models = [_values(row) for row in connection.execute(select(run_models).where(run_models.c.run == number))]
        summary = _values(connection.execute(select(run_summary).where(run_summary.c.run == number)).one())
        listed = _listed(connection, number)
    there, known = target.write(lambda connection: _open(connection, run, whole, models, summary))
    missing = [row for row in listed if row["job_key"] not in known]
    for some in (missing[start : start + _ROWS] for start in range(0, len(missing), _ROWS)):
        with source.reading() as connection:
            rows = _with_payloads(connection, some)
            codes, values = _beside(connection, number, [row["job"] for row in some])
            same.read(connection, {value[name] for value in values for name in ("names", "versions")})
        numbers = same.add(target, {value[name] for value in values for name in ("names", "versions")})
        target.write(partial(_add, run=there, rows=rows, codes=codes, values=values, constants=numbers))
    words = {row["job_key"]: row["word"] for row in listed if row["job_key"] in known and row["word"]}
    target.write(lambda connection: _close(connection, there, run["status"], summary, words))
    return len(missing)


def _listed(connection: Connection, number: int) -> list[dict[str, Any]]:
    """The short rows of a run, in the order recorded, with what is known of their jobs."""
    named = (case_state.c.job_key, case_state.c.case, case_state.c.flow, case_state.c.kind)
    query = select(results, *named).join(case_state, case_state.c.number == results.c.job)
    rows = connection.execute(query.where(results.c.run == number).order_by(results.c.number))
    return [_values(row) for row in rows]


def _with_payloads(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By their numbers: between the first and the last may lie a million that the target has."""
    payloads = {
        row.result: row.payload
        for some in chunks([row["number"] for row in rows])
        for row in connection.execute(select(result_payloads).where(result_payloads.c.result.in_(some)))
    }
    return [{**row, "payload": payloads[row["number"]]} for row in rows]


def _beside(
    connection: Connection, number: int, jobs: Sequence[int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows_beside: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for some in chunks(jobs):
        for table, rows in zip((result_codes, metric_values), rows_beside, strict=True):
            query = select(table).where(table.c.run == number, table.c.job.in_(some))
            rows += [_values(row) for row in connection.execute(query)]
    return rows_beside


def _open(
    connection: Connection,
    run: dict[str, Any],
    whole: dict[str, Any],
    models: Sequence[dict[str, Any]],
    summary: dict[str, Any],
) -> tuple[int, set[str]]:
    """Its number, and the keys of the jobs that it has already."""
    row = {**run, "status": "running"}
    connection.execute(insert_for(connection, runs).on_conflict_do_nothing(index_elements=["id"]), row)
    demand_same_run(connection, run, copied=True)
    number = int(connection.scalars(select(runs.c.number).where(runs.c.id == run["id"])).one())
    empty = {"run": number, "jobs": summary["jobs"], "recorded": 0, "word": "", "passed": 0, "failed": 0, "other": 0}
    _add_new(connection, run_payloads, [{**whole, "run": number}])
    _add_new(connection, run_summary, [empty])
    _add_new(connection, run_models, [{**model, "run": number} for model in models])
    keys = select(case_state.c.job_key).join(results, results.c.job == case_state.c.number)
    return number, set(connection.scalars(keys.where(results.c.run == number)))


def _add(
    connection: Connection,
    run: int,
    rows: Sequence[dict[str, Any]],
    codes: Sequence[dict[str, Any]],
    values: Sequence[dict[str, Any]],
    constants: Mapping[int, int],
) -> None:
    connection.execute(select(run_summary.c.run).where(run_summary.c.run == run).with_for_update())
    known = job_numbers(connection, [row["job_key"] for row in rows])
    there = jobs_recorded(connection, run, list(known.values()))
    new = [row for row in rows if known.get(row["job_key"]) not in there]
    if not new:
        return
    connection.execute(update(run_summary).where(run_summary.c.run == run).values(names=None))
    advance(connection, [{**first_state(run, row), "word": row["word"]} for row in new])
    known |= job_numbers(connection, [row["job_key"] for row in new if row["job_key"] not in known])
    here = {row["job"]: known[row["job_key"]] for row in new}
    add_rows(connection, [{**row, "run": run, "job": here[row["job"]]} for row in new])
    _add_new(
        connection,
        result_codes,
        [{**code, "run": run, "job": here[code["job"]]} for code in codes if code["job"] in here],
    )
    add_many(
        connection,
        metric_values,
        [
            {
                **value,
                "run": run,
                "job": here[value["job"]],
                "names": constants[value["names"]],
                "versions": constants[value["versions"]],
            }
            for value in values
            if value["job"] in here
        ],
    )


def _close(connection: Connection, run: int, status: str, summary: dict[str, Any], words: dict[str, str]) -> None:
    """`words` are those of results that were there before: the run may have been judged since. A judgement of the target's own stays, and
    a status goes forward alone."""
    recorded = select(func.count()).select_from(results).where(results.c.run == run).scalar_subquery()
    connection.execute(update(run_summary).where(run_summary.c.run == run).values(recorded=recorded))
    earlier = _STATUSES[: _STATUSES.index(status)] if status in _STATUSES else ()
    ahead = update(runs).where(runs.c.number == run, runs.c.status.in_(earlier)).values(status=status)
    gone_on = connection.execute(ahead).rowcount > 0
    totals = {name: summary[name] for name in ("word", "passed", "failed", "other")}
    of_run = update(run_summary).where(run_summary.c.run == run, true() if gone_on else run_summary.c.word == "")
    connection.execute(of_run.values(**totals))
    known = job_numbers(connection, words)
    words_by_job = [{"its": known[key], "said": word} for key, word in sorted(words.items()) if key in known]
    for table, job in ((results, results.c.job), (case_state, case_state.c.number)) if words_by_job else ():
        same = update(table).where(job == bindparam("its"), table.c.run == run, table.c.word == "")
        connection.execute(same.values(word=bindparam("said")), words_by_job)
    keep_run_names(connection, run)
    add_up(connection)


def _add_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert_for(connection, table).on_conflict_do_nothing(), list(rows))


def _values(row: Row[Any], without: str = "") -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name != without}


class Constants:
    """Each is read from the source once in a copy."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, bytes]] = {}

    def read(self, source: Connection, numbers: AbstractSet[int]) -> None:
        """Those with these numbers."""
        for some in chunks(sorted(numbers - self._known.keys())):
            for row in source.execute(select(constants).where(constants.c.number.in_(some))):
                self._known[row.number] = (row.digest, row.payload)

    def add(self, target: SqlStore, numbers: AbstractSet[int]) -> dict[int, int]:
        """The numbers that those have in the target, where they are added if they are new."""
        constants = {number: self._known[number] for number in numbers}
        there = target.constants(dict(constants.values()))
        return {number: there[digest] for number, (digest, _) in constants.items()}
