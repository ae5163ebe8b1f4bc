"""What is written with a run and its results, in one transaction: what they are searched by, the summary, the present state of each job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.engine import Row, RowMapping

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
    if connection.scalar(select(runs.c.number).where(runs.c.id == run.id)) is not None:
        return
    row = {
        "id": run.id,
        "started_at": run.started_at,
        "status": run.status,
        "command": run.command,
        "commit": run.commit,
        "machine": run.machine.kind,
        "payload": pack(run),
    }
    number = connection.scalar(insert(runs).returning(runs.c.number), row)
    empty = {"recorded": 0, "word": "", "passed": 0, "failed": 0, "other": 0}
    connection.execute(insert(run_summary), {"run": number, "jobs": len(run.jobs), **empty})
    originals = [job.case.original.model for job in run.jobs if job.case.original]
    models = {(one.digest, one.name) for one in (*(job.case.model for job in run.jobs), *originals)}
    if models:
        rows = [{"digest": digest, "run": number, "name": name} for digest, name in sorted(models)]
        connection.execute(insert(run_models), rows)


def add_results(connection: Connection, run: int, arrived: Sequence[Result]) -> None:
    """Record those results that run number `run` has not yet; the caller holds the lock of the one writer."""
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
    _advance(connection, run, new)


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
            [{"key": key, "said": word.value} for key, word in words.items()],
        )


def statuses_by_job(judgement: RunVerdict) -> dict[str, VerdictStatus]:
    """The worst word of each job: a job with five goals counts once."""
    words: dict[str, VerdictStatus] = {}
    for verdict in judgement.verdicts:
        if verdict.job_key:
            known = words.get(verdict.job_key, verdict.word)
            words[verdict.job_key] = min(known, verdict.word, key=_WORST_FIRST.index)
    return words


def next_state(before: RowMapping | Mapping[str, Any] | None, run: int, result: Result) -> dict[str, Any] | None:
    """The state of a job after `result` of run number `run`; None where a later run has been recorded already."""
    if before is not None and before["run"] > run:
        return None
    same = before is not None and before["outcome"] == result.outcome.value
    last_ok = before["last_ok"] if before is not None else None
    return {
        "job_key": result.job_key,
        "case": result.case,
        "flow": result.flow,
        "kind": result.kind,
        "outcome": result.outcome.value,
        "word": "",
        "run": run,
        "since": before["since"] if before is not None and same else run,
        "streak": before["streak"] + 1 if before is not None and same else 1,
        "last_ok": run if result.outcome is Outcome.OK else last_ok,
    }


def _advance(connection: Connection, run: int, new: Sequence[Result]) -> None:
    keys = [result.job_key for result in new]
    before: dict[str, Row[Any]] = {
        row.job_key: row
        for some in chunks(keys)
        for row in connection.execute(select(case_state).where(case_state.c.job_key.in_(some)))
    }
    first: list[dict[str, Any]] = []
    later: list[dict[str, Any]] = []
    for result in new:
        known = before.get(result.job_key)
        state = next_state(None if known is None else known._mapping, run, result)
        if state is not None:
            (first if known is None else later).append(state)
    if first:
        connection.execute(insert(case_state), first)
    if later:
        columns: dict[str, Any] = {name: bindparam(f"new_{name}") for name in later[0]}
        connection.execute(
            update(case_state).where(case_state.c.job_key == bindparam("new_job_key")).values(columns),
            [{f"new_{name}": value for name, value in state.items()} for state in later],
        )


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
