"""Questions of a dashboard: each reads one page, by an index or from the table of the present state."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from assay.core.outcome import FAILS_BY_DEFAULT, Outcome
from assay.core.verdict import VerdictStatus
from assay.core.wire import decode_job
from assay.ports.browsing import RED, CellQuery, JobState, MatrixJob, MatrixPage
from assay.stores.find_run import find_run
from assay.stores.tables import case_state, result_payloads, results, runs

RED_WORDS = (VerdictStatus.FAIL.value, VerdictStatus.XPASS.value, VerdictStatus.ERROR.value)

_state = case_state.c
_run = runs.alias("began_since")


def state_rows() -> Select[Any]:
    """Of every job, with the ids of its runs."""
    run, since, last_ok = runs.alias("run"), runs.alias("since"), runs.alias("last_ok_run")
    return (
        select(case_state, run.c.id.label("run_id"), since.c.id.label("since_id"), last_ok.c.id.label("last_ok_id"))
        .join(run, run.c.number == _state.run)
        .join(since, since.c.number == _state.since)
        .outerjoin(last_ok, last_ok.c.number == _state.last_ok)
    )


def read_states(connection: Connection, query: Select[Any]) -> tuple[JobState, ...]:
    """`query` was made from `state_rows`."""
    return tuple(map(_state_of, connection.execute(query)))


def _state_of(row: Any) -> JobState:
    return JobState(
        *(row.job_key, row.case, row.flow, row.kind, row.outcome, row.word),
        run=row.run_id,
        since=row.since_id,
        streak=row.streak,
        last_ok=row.last_ok_id or "",
    )


def matrix(
    connection: Connection, query: CellQuery, first_case: int, cases: int, first_flow: int, flows: int, name: str
) -> MatrixPage:
    """See `ports.Browsable.matrix`; `name` is that of the history."""
    number = find_run(connection, query.run, name) if query.run else 0
    asked = _asked(query, number)

    def names(column: ColumnElement[str], first: int, count: int) -> list[str]:
        some = _of_run(select(column), number).where(*asked).distinct().order_by(column)
        return list(connection.scalars(some.limit(count + 1).offset(first)))

    found_cases, found_flows = names(_state.case, first_case, cases), names(_state.flow, first_flow, flows)
    shown_cases, shown_flows = found_cases[:cases], found_flows[:flows]
    here = [_state.case.in_(shown_cases), _state.flow.in_(shown_flows), *asked]
    jobs = connection.execute(_jobs(number).where(*here)).all() if shown_cases and shown_flows else []
    return MatrixPage(
        tuple(shown_cases),
        tuple(shown_flows),
        tuple(MatrixJob(*row) for row in jobs),
        len(found_cases) > cases,
        len(found_flows) > flows,
    )


def _jobs(number: int) -> Select[Any]:
    """The jobs of a run; those of the present where it is 0."""
    named = (_state.case, _state.flow, _state.kind)
    if not number:
        return select(*named, _state.outcome, _state.word, runs.c.id).join(runs, runs.c.number == _state.run)
    of_run = _of_run(select(*named, results.c.outcome, results.c.word, runs.c.id), number)
    return of_run.join(runs, runs.c.number == results.c.run)


def _of_run(query: Select[Any], number: int) -> Select[Any]:
    if not number:
        return query
    return query.join(results, results.c.job == _state.number).where(results.c.run == number)


def _asked(query: CellQuery, number: int) -> list[ColumnElement[bool]]:
    said = results.c if number else _state
    asked: list[ColumnElement[bool]] = []
    for column, part in ((_state.case, query.case), (_state.flow, query.flow)):
        if part and query.exact:
            asked.append(column == part)
        elif part:
            asked.append(func.lower(column).contains(part.lower(), autoescape=True))
    if query.outcome:
        asked.append(said.outcome == query.outcome)
    if query.word == RED:
        asked.append(is_red(said))
    elif query.word:
        asked.append(said.word == query.word)
    return asked


def is_red(said: Any) -> ColumnElement[bool]:
    """`said` are the columns of the state or of the results. Without a verdict: that of a policy which says nothing of the outcome."""
    unjudged = said.outcome.in_((*FAILS_BY_DEFAULT, Outcome.INFRASTRUCTURE.value))
    return or_(said.word.in_(RED_WORDS), and_(said.word == "", unjudged))


def newest_run_of(connection: Connection, case: str, flow: str) -> str:
    """Its id; "" where the history has no such cell."""
    return max((run.run for run in cell_runs(connection, case, flow, 1)), default="")


def cell_runs(connection: Connection, case: str, flow: str, limit: int) -> list[MatrixJob]:
    """See `ports.Browsable.cell_runs`. Each job by itself: so its index gives those written last, without a look at the thousands before
    them. Most often they are the newest; where old runs were written after new ones, the newest are among what began no earlier."""
    of_cell = select(_state.number, _state.kind).where(_state.case == case, _state.flow == flow)
    rows_of_cell: list[tuple[str, int, MatrixJob]] = []
    for job in connection.execute(of_cell).all():
        row = results.c
        query = select(row.number, row.outcome, row.word, runs.c.id).join(runs, runs.c.number == row.run)
        query = query.where(row.job == job.number).limit(limit)
        last = connection.execute(query.order_by(row.run.desc())).all()
        begin = min((stored_row.id for stored_row in last), default="")
        since = query.where(row.run.in_(select(_run.c.number).where(_run.c.id >= begin)))
        rows_of_cell += [
            (
                stored_row.id,
                stored_row.number,
                MatrixJob(case, flow, job.kind, stored_row.outcome, stored_row.word, stored_row.id),
            )
            for stored_row in (connection.execute(since.order_by(runs.c.id.desc())) if len(last) == limit else last)
        ]
    return [matrix_job for _, _, matrix_job in sorted(rows_of_cell, key=lambda row: row[:2], reverse=True)][:limit]


class _Said(msgspec.Struct):
    detail: str = ""
    log: str = ""


_SAID = msgspec.msgpack.Decoder(_Said)


def said(connection: Connection, text: str, looked_at: int, limit: int) -> list[tuple[JobState, str]]:
    """See `ports.Browsable.said`."""
    query = (
        state_rows()
        .add_columns(result_payloads.c.payload)
        .join(results, and_(results.c.run == _state.run, results.c.job == _state.number))
        .join(result_payloads, result_payloads.c.result == results.c.number)
        .where(_state.outcome != Outcome.OK.value)
        .order_by(_state.since.desc(), _state.job_key)
        .limit(looked_at)
    )
    states: list[tuple[JobState, str]] = []
    for row in connection.execute(query):
        words = _SAID.decode(zlib.decompress(row.payload))
        line = next(
            (
                text_line
                for text_line in (*words.detail.splitlines(), *words.log.splitlines())
                if text.lower() in text_line.lower()
            ),
            "",
        )
        if line:
            states.append((_state_of(row), line))
        if len(states) == limit:
            break
    return states


class _Named(msgspec.Struct):
    name: str


class _Asks(msgspec.Struct):
    case: _Named
    flow: _Named | None = None


_LISTED = msgspec.msgpack.Decoder(tuple[msgspec.Raw, ...])
_ASKS = msgspec.msgpack.Decoder(_Asks)


def only_cell(jobs: bytes, case: str, flow: str) -> list[msgspec.Raw]:
    """Of the jobs of a run, as msgpack, those of that cell: nobody reads the others of a large one."""
    raws = _LISTED.decode(jobs)
    asked = [raws[place] for place in _having(jobs, raws, case.encode())]
    return [raw for raw in asked if _is_of(raw, case, flow)]


def _having(jobs: bytes, raws: Sequence[msgspec.Raw], name: bytes) -> Iterator[int]:
    """The places of those in whose bytes the name stands anywhere: one look through all of them finds the few. They lie one behind the
    other, up to the end."""
    sizes = [len(raw) for raw in raws]
    ends = list(accumulate(sizes, initial=len(jobs) - sum(sizes)))[1:]
    at = jobs.find(name)
    while at >= 0 and (place := bisect_right(ends, at)) < len(ends):
        yield place
        at = jobs.find(name, ends[place])


def _is_of(raw: msgspec.Raw, case: str, flow: str) -> bool:
    asks = _ASKS.decode(raw)
    if asks.case.name != case:
        return False
    return (asks.flow.name if asks.flow is not None else decode_job(bytes(raw)).subject) == flow
