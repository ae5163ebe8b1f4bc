"""What becomes of old results: raw samples go, what was made of them stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

from sqlalchemy import Connection, bindparam, select, update

from assay.core.job_base import JobKind
from assay.stores.history_tables import case_state, result_payloads, results, runs

_ROWS = 500
"""In one transaction: no writer waits long, and what is cut off is gone on with."""
_SAMPLED = (JobKind.MEASURE.value,)
"""Kinds of job whose results hold raw samples."""


class Database(Protocol):
    """What reads and writes in transactions of its own."""

    def reading(self) -> AbstractContextManager[Connection]: ...

    def write(self, change: Callable[[Connection], None]) -> None: ...


def roll_up(store: Database, before: str, shorten: Callable[[bytes], bytes | None]) -> int:
    """How many payloads were replaced. `shorten` gives None for what is short already."""
    old = runs.c.started_at < before, runs.c.status == "complete", case_state.c.kind.in_(_SAMPLED)
    query = (
        select(results.c.number, result_payloads.c.payload)
        .join(result_payloads, result_payloads.c.result == results.c.number)
        .join(case_state, case_state.c.number == results.c.job)
        .join(runs, runs.c.number == results.c.run)
        .where(*old)
    )
    last, count = 0, 0
    while True:
        with store.reading() as connection:
            some = query.where(results.c.number > last).order_by(results.c.number).limit(_ROWS)
            rows = connection.execute(some).all()
        if not rows:
            return count
        last = rows[-1].number
        changes = [{"row": row.number, "short": short} for row in rows if (short := shorten(row.payload)) is not None]
        if changes:
            store.write(partial(_replace, changes=changes))
            count += len(changes)


def _replace(connection: Connection, changes: Sequence[Mapping[str, object]]) -> None:
    change = (
        update(result_payloads).where(result_payloads.c.result == bindparam("row")).values(payload=bindparam("short"))
    )
    connection.execute(change, changes)
