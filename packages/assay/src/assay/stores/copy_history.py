"""Every run of one history into another, as it is: payloads are not opened, and what is there already is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, bindparam, func, insert, select, update
from sqlalchemy.engine import Row

from assay.stores.ingest import advance, chunks, first_state, insert_for
from assay.stores.sql import SqlStore
from assay.stores.tables import case_state, result_codes, results, run_models, run_summary, runs

_ROWS = 2000
"""In one transaction: what is lost of a copy that is cut off, and copied again by the next."""


def copy_history(source: SqlStore, target: SqlStore, copied: Callable[[str, int], None]) -> tuple[int, int]:
    """How many runs there are, and how many results were new to `target`. `copied` hears of each run, and its results, when it is done.
    A copy that was cut off is gone on with by calling it again. Both raise StoreError in one sentence."""
    with source.reading() as connection:
        numbers = connection.execute(select(runs.c.number, runs.c.id).order_by(runs.c.number)).all()
    total = 0
    for number, run_id in numbers:
        new = _copy_run(source, target, number)
        total += new
        copied(run_id, new)
    return len(numbers), total


def _copy_run(source: SqlStore, target: SqlStore, number: int) -> int:
    in_order = select(results.c.job_key).where(results.c.run == number).order_by(results.c.number)
    with source.reading() as connection:
        run = _values(connection.execute(select(runs).where(runs.c.number == number)).one(), without="number")
        models = [_values(row) for row in connection.execute(select(run_models).where(run_models.c.run == number))]
        keys = list(connection.scalars(in_order))
        summary = _values(connection.execute(select(run_summary).where(run_summary.c.run == number)).one())
        states = connection.execute(select(case_state.c.job_key, case_state.c.word).where(case_state.c.run == number))
        words = {state.job_key: state.word for state in states}
    there = target.write(lambda connection: _open(connection, run, models, summary))
    missing = [key for key in keys if key not in there.keys]
    for some in (missing[start : start + _ROWS] for start in range(0, len(missing), _ROWS)):
        with source.reading() as connection:
            rows, codes = _rows(connection, number, some)
        target.write(partial(_add, run=there.number, rows=rows, codes=codes))
    target.write(lambda connection: _close(connection, there.number, run["status"], summary, words))
    return len(missing)


class _There:
    def __init__(self, number: int, keys: set[str]) -> None:
        self.number, self.keys = number, keys


def _open(
    connection: Connection, run: dict[str, Any], models: Sequence[dict[str, Any]], summary: dict[str, Any]
) -> _There:
    row = {**run, "status": "running"}
    connection.execute(insert_for(connection, runs).on_conflict_do_nothing(index_elements=["id"]), row)
    number = int(connection.scalars(select(runs.c.number).where(runs.c.id == run["id"])).one())
    empty = {"run": number, "jobs": summary["jobs"], "recorded": 0, "word": "", "passed": 0, "failed": 0, "other": 0}
    connection.execute(insert_for(connection, run_summary).on_conflict_do_nothing(), empty)
    _add_new(connection, run_models, [{**one, "run": number} for one in models])
    return _There(number, set(connection.scalars(select(results.c.job_key).where(results.c.run == number))))


def _rows(
    connection: Connection, number: int, keys: Sequence[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    codes: list[dict[str, Any]] = []
    for some in chunks(keys):
        query = select(results).where(results.c.run == number, results.c.job_key.in_(some)).order_by(results.c.number)
        rows += [_values(row, without="number") for row in connection.execute(query)]
        about = select(result_codes).where(result_codes.c.run == number, result_codes.c.job_key.in_(some))
        codes += [_values(row) for row in connection.execute(about)]
    return rows, codes


def _add(connection: Connection, run: int, rows: Sequence[dict[str, Any]], codes: Sequence[dict[str, Any]]) -> None:
    connection.execute(select(run_summary.c.run).where(run_summary.c.run == run).with_for_update())
    there = {
        key
        for some in chunks([row["job_key"] for row in rows])
        for key in connection.scalars(
            select(results.c.job_key).where(results.c.run == run, results.c.job_key.in_(some))
        )
    }
    new = [{**row, "run": run} for row in rows if row["job_key"] not in there]
    if not new:
        return
    connection.execute(insert(results), new)
    _add_new(connection, result_codes, [{**one, "run": run} for one in codes])
    advance(connection, [first_state(run, row) for row in new])


def _close(connection: Connection, run: int, status: str, summary: dict[str, Any], words: dict[str, str]) -> None:
    connection.execute(update(runs).where(runs.c.number == run).values(status=status))
    recorded = select(func.count()).select_from(results).where(results.c.run == run).scalar_subquery()
    told = {name: summary[name] for name in ("word", "passed", "failed", "other")}
    connection.execute(update(run_summary).where(run_summary.c.run == run).values(recorded=recorded, **told))
    said = [{"key": key, "said": word} for key, word in sorted(words.items()) if word]
    if said:
        state = case_state.c
        same = update(case_state).where(state.job_key == bindparam("key"), state.run == run, state.word == "")
        connection.execute(same.values(word=bindparam("said")), said)


def _add_new(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert_for(connection, table).on_conflict_do_nothing(), list(rows))


def _values(row: Row[Any], without: str = "") -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name != without}
