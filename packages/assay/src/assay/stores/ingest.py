"""What is written with a run and its results, in one transaction: what they are searched by, the summary, the present state of each job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, bindparam, case, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from assay.core.codes import codes_of
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.stores.payload import pack
from assay.stores.tables import case_state, result_codes, results, run_models, run_summary, runs

Value = TypeVar("Value")

_MOST_PARAMETERS = 400
"""Names in one IN (...): SQLite's older limit is 999 for the whole statement."""

_WORST_FIRST = (
    VerdictStatus.FAIL,
    VerdictStatus.XPASS,
    VerdictStatus.ERROR,
    VerdictStatus.INCONCLUSIVE,
    VerdictStatus.SKIP,
    VerdictStatus.XFAIL,
    VerdictStatus.PASS,
)
_PASSED = (VerdictStatus.PASS, VerdictStatus.XFAIL)
_FAILED = (VerdictStatus.FAIL, VerdictStatus.XPASS)


def add_run(connection: Connection, run: Run) -> None:
    """The run with what it is searched by and an empty summary; one with that id that is there already stays as it is."""
    row = {
        "id": run.id,
        "started_at": run.started_at,
        "status": run.status,
        "command": run.command,
        "commit": run.commit,
        "machine": run.machine.kind,
        "payload": pack(run),
    }
    if_new = insert_for(connection, runs).on_conflict_do_nothing(index_elements=["id"])
    number = connection.scalar(if_new.returning(runs.c.number), row)
    if number is None:
        return
    empty = {"recorded": 0, "word": "", "passed": 0, "failed": 0, "other": 0}
    connection.execute(insert(run_summary), {"run": number, "jobs": len(run.jobs), **empty})
    originals = [job.case.original.model for job in run.jobs if job.case.original]
    models = {(one.digest, one.name) for one in (*(job.case.model for job in run.jobs), *originals)}
    if models:
        rows = [{"digest": digest, "run": number, "name": name} for digest, name in sorted(models)]
        connection.execute(insert(run_models), rows)


def add_results(connection: Connection, run: int, arrived: Sequence[Result]) -> None:
    """Record those results that run number `run` has not yet. Two writers of one run wait for each other; those of
    two runs only while both change the state of the same job."""
    connection.execute(select(run_summary.c.run).where(run_summary.c.run == run).with_for_update())
    first: dict[str, Result] = {}
    for result in arrived:
        first.setdefault(result.job_key, result)
    there = {
        key
        for keys in chunks(list(first))
        for key in connection.scalars(
            select(results.c.job_key).where(results.c.run == run, results.c.job_key.in_(keys))
        )
    }
    new = [result for result in first.values() if result.job_key not in there]
    if not new:
        return
    connection.execute(insert(results), [_row(run, result) for result in new])
    codes = [_code(run, result, *one) for result in new for one in codes_of(result)]
    if codes:
        connection.execute(insert(result_codes), codes)
    summary = run_summary.c
    connection.execute(update(run_summary).where(summary.run == run).values(recorded=summary.recorded + len(new)))
    advance(connection, [first_state(run, _row(run, result)) for result in new])


def judge_run(connection: Connection, run: int, judgement: RunVerdict) -> None:
    """Put the words of the judgement into the summary, and into the state of those jobs that no later run has done."""
    words = statuses_by_job(judgement)
    passed = sum(word in _PASSED for word in words.values())
    failed = sum(word in _FAILED for word in words.values())
    connection.execute(
        update(run_summary)
        .where(run_summary.c.run == run)
        .values(word=judgement.run.word.value, passed=passed, failed=failed, other=len(words) - passed - failed)
    )
    if words:
        connection.execute(
            update(case_state)
            .where(case_state.c.job_key == bindparam("key"), case_state.c.run == run)
            .values(word=bindparam("said")),
            [{"key": key, "said": word.value} for key, word in sorted(words.items())],
        )


def statuses_by_job(judgement: RunVerdict) -> dict[str, VerdictStatus]:
    """The worst word of each job: a job with five goals counts once."""
    words: dict[str, VerdictStatus] = {}
    for verdict in judgement.verdicts:
        if verdict.job_key:
            known = words.get(verdict.job_key, verdict.word)
            words[verdict.job_key] = min(known, verdict.word, key=_WORST_FIRST.index)
    return words


def advance(connection: Connection, first: Sequence[dict[str, Any]]) -> None:
    """The state of each job after a run; one that a later run has done already stays as it is."""
    statement = insert_for(connection, case_state)
    old, now = case_state.c, statement.excluded
    same = old.outcome == now.outcome
    change = {
        "case": now.case,
        "flow": now.flow,
        "kind": now.kind,
        "outcome": now.outcome,
        "word": now.word,
        "run": now.run,
        "since": case((same, old.since), else_=now.since),
        "streak": case((same, old.streak + 1), else_=1),
        "last_ok": func.coalesce(now.last_ok, old.last_ok),
    }
    update_later = statement.on_conflict_do_update(index_elements=["job_key"], set_=change, where=old.run <= now.run)
    # In one order for all: two writers that want the same two jobs must not wait for each other for ever.
    connection.execute(update_later, sorted(first, key=lambda state: str(state["job_key"])))


def first_state(run: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """Of a job that was never done before; `row` is that of its result."""
    return {
        **{name: row[name] for name in ("job_key", "case", "flow", "kind", "outcome")},
        "word": "",
        "run": run,
        "since": run,
        "streak": 1,
        "last_ok": run if row["outcome"] == Outcome.OK.value else None,
    }


def insert_for(connection: Connection, table: Table) -> Any:
    """An insert that can say what to do where the row is there already: each database has a type of its own for it."""
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)


def _row(run: int, result: Result) -> dict[str, Any]:
    return {
        "run": run,
        "job_key": result.job_key,
        "case": result.case,
        "flow": result.flow,
        "kind": result.kind,
        "outcome": result.outcome.value,
        "stage": result.stage.value,
        "seconds": result.seconds,
        "payload": pack(result),
    }


def _code(run: int, result: Result, code: str, about: str) -> dict[str, Any]:
    return {"code": code, "run": run, "job_key": result.job_key, "about": about}


def chunks(keys: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """So many that a statement can hold them."""
    for start in range(0, len(keys), _MOST_PARAMETERS):
        yield keys[start : start + _MOST_PARAMETERS]
