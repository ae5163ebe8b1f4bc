"""Questions of a dashboard: each reads one page, by an index or from the table of the present state."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from assay.core.outcome import Outcome
from assay.core.wire import decode_job
from assay.ports.browsing import JobState, MatrixJob
from assay.stores.history_tables import case_state, result_payloads, results, runs
from assay.stores.state_parts import RED_WORDS, UNJUDGED

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
    return tuple(map(state_of, connection.execute(query)))


def state_of(row: Any) -> JobState:
    """Of a row of `state_rows`."""
    return JobState(
        *(row.job_key, row.case, row.flow, row.kind, row.outcome, row.word),
        run=row.run_id,
        since=row.since_id,
        streak=row.streak,
        last_ok=row.last_ok_id or "",
    )


def is_red(row: Any) -> ColumnElement[bool]:
    """`row` holds the columns of the state or of the results. Without a verdict: that of a policy which says nothing of the outcome."""
    return or_(row.word.in_(RED_WORDS), and_(row.word == "", row.outcome.in_(UNJUDGED)))


def red(outcome: str, word: str) -> bool:
    """As `is_red` of one job."""
    return word in RED_WORDS or (word == "" and outcome in UNJUDGED)


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
            states.append((state_of(row), line))
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
    cells = [raws[place] for place in _having(jobs, raws, case.encode())]
    return [raw for raw in cells if _is_of(raw, case, flow)]


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
