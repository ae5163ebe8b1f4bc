"""Which cases and flows a run has, and how their jobs ended: a small value beside its summary, so that no page of a matrix looks for names
among all its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, func, select, update

from assay.stores.payload import pack, unpack
from assay.stores.tables import case_state, results, run_summary

Kind = tuple[str, str]
"""An outcome, and the word of the verdict on it."""
AXES: dict[str, ColumnElement[str]] = {"case": case_state.c.case, "flow": case_state.c.flow}


class RunNames(msgspec.Struct, array_like=True, frozen=True):
    """Names in the order of the database, and with each the places in `kinds` of those that its jobs have. `cells` counts the pairs of a
    case and a flow; -1 where that was not kept."""

    kinds: list[Kind]
    case: list[tuple[str, list[int]]]
    flow: list[tuple[str, list[int]]]
    cells: int = -1

    def having(self, axis: str, wanted: Iterable[Kind]) -> list[str]:
        """Those names that have a job of one of these kinds."""
        kinds = set(wanted)
        places = {place for place, kind in enumerate(self.kinds) if kind in kinds}
        return [name for name, its in self.named(axis) if not places.isdisjoint(its)]

    def named(self, axis: str) -> list[tuple[str, list[int]]]:
        """All of them."""
        return self.case if axis == "case" else self.flow


_NAMES: msgspec.msgpack.Decoder[RunNames] = msgspec.msgpack.Decoder(RunNames)


def run_names(connection: Connection, run: int) -> RunNames:
    """As it was kept, or from the results of the run: while it goes on, and where an older assay recorded it."""
    kept = connection.scalar(select(run_summary.c.names).where(run_summary.c.run == run))
    return _collected(connection, run) if kept is None else unpack(kept, _NAMES)


def keep_run_names(connection: Connection, run: int) -> None:
    """Of a run to which nothing is added: who adds a result forgets them in the same transaction."""
    names = pack(replace(_collected(connection, run), cells=_counted(connection, [run])))
    connection.execute(update(run_summary).where(run_summary.c.run == run).values(names=names))


def cell_count(connection: Connection, some: Sequence[int]) -> int:
    """How many these runs have together; of one run as it was kept."""
    kept = run_summary.c.names
    names = connection.scalar(select(kept).where(run_summary.c.run == some[0])) if len(some) == 1 else None
    cells = -1 if names is None else unpack(names, _NAMES).cells
    return cells if cells >= 0 else _counted(connection, some)


def _counted(connection: Connection, some: Sequence[int]) -> int:
    jobs, state = select(results.c.job).where(results.c.run.in_(some)), case_state.c
    cells = select(state.case, state.flow).where(state.number.in_(jobs)).distinct()
    return int(connection.scalar(select(func.count()).select_from(cells.subquery())) or 0)


def _collected(connection: Connection, run: int) -> RunNames:
    places: dict[Kind, int] = {}

    def named(column: ColumnElement[str]) -> list[tuple[str, list[int]]]:
        its = results.c.outcome, results.c.word
        query = select(column, *its).join(results, results.c.job == case_state.c.number)
        rows: Sequence[Any] = connection.execute(
            query.where(results.c.run == run).distinct().order_by(column, *its)
        ).all()
        names: dict[str, list[int]] = {}
        for name, outcome, word in rows:
            names.setdefault(name, []).append(places.setdefault((outcome, word), len(places)))
        return list(names.items())

    cases, flows = (named(column) for column in AXES.values())
    return RunNames(list(places), cases, flows)
