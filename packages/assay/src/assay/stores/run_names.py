"""Which cases and flows a run has, and how their jobs ended: a small value beside its summary, so that no page of a matrix looks for names
among all its jobs; and a bit for each cell and kind of ending, so that no filter looks for cells among them."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from operator import or_
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from assay.stores.encoded_result import pack, unpack
from assay.stores.history_tables import case_state, results, run_cells, run_summary

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

    def having(self, axis: str, chosen: Iterable[Kind]) -> list[str]:
        """Those names that have a job of one of these kinds."""
        kinds = set(chosen)
        places = {place for place, kind in enumerate(self.kinds) if kind in kinds}
        return [name for name, its in self.named(axis) if not places.isdisjoint(its)]

    def named(self, axis: str) -> list[tuple[str, list[int]]]:
        """All of them."""
        return self.case if axis == "case" else self.flow


MOST_CELLS = 64_000_000
"""Of a run with more pairs of a case and a flow no cells are kept, 8 MB for each kind."""
_AT_ONCE = 10_000
"""Rows from a server."""
_NAMES: msgspec.msgpack.Decoder[RunNames] = msgspec.msgpack.Decoder(RunNames)


def run_names(connection: Connection, run: int) -> RunNames:
    """As it was kept, or from the results of the run: while it goes on, and where an older assay recorded it."""
    kept = connection.scalar(select(run_summary.c.names).where(run_summary.c.run == run))
    return _collected(connection, run) if kept is None else unpack(kept, _NAMES)


def keep_run_names(connection: Connection, run: int) -> None:
    """Of a run to which nothing is added: who adds a result forgets them in the same transaction."""
    connection.execute(select(run_summary.c.run).where(run_summary.c.run == run).with_for_update())
    names = _collected(connection, run)
    of_kinds = _cells(connection, run, names) if len(names.case) * len(names.flow) <= MOST_CELLS else None
    cells = _counted(connection, [run]) if of_kinds is None else sum(map(int.bit_count, _any_of(of_kinds, names)))
    kept = pack(replace(names, cells=cells))
    connection.execute(update(run_summary).where(run_summary.c.run == run).values(names=kept))
    connection.execute(delete(run_cells).where(run_cells.c.run == run))
    if of_kinds:
        size = _row_bytes(names)
        rows = [
            {
                "run": run,
                "kind": kind,
                "cells": zlib.compress(b"".join(row.to_bytes(size, "little") for row in of_kind), 1),
            }
            for kind, of_kind in enumerate(of_kinds)
        ]
        connection.execute(insert(run_cells), rows)


def run_cell_rows(
    connection: Connection, run: int, names: RunNames, kinds: Collection[Kind] | None
) -> list[int] | None:
    """Of each case the flows on which it has a job of one of these kinds, as bits, in the order of the names. None where that was not
    kept."""
    places = [place for place, kind in enumerate(names.kinds) if kinds is None or kind in kinds]
    query = select(run_cells.c.cells).where(run_cells.c.run == run, run_cells.c.kind.in_(places))
    kept = connection.scalars(query).all() if names.cells >= 0 else []
    if len(kept) < len(places):
        return None
    size = _row_bytes(names)
    of_kinds = []
    for cells in map(zlib.decompress, kept):
        of_kinds.append([int.from_bytes(cells[at : at + size], "little") for at in range(0, len(cells), size)])
    return _any_of(of_kinds, names)


def _row_bytes(names: RunNames) -> int:
    return (len(names.flow) + 7) // 8


def _any_of(of_kinds: Sequence[list[int]], names: RunNames) -> list[int]:
    if not of_kinds:
        return [0] * len(names.case)
    first, *others = of_kinds
    for other in others:
        first = list(map(or_, first, other))
    return first


def _cells(connection: Connection, run: int, names: RunNames) -> list[list[int]]:
    """By the place of the kind and that of the case, the flows as bits. Its results come some at a time: of a large run not all fit in
    memory."""
    kinds = {kind: place for place, kind in enumerate(names.kinds)}
    cases = {name: place for place, (name, _) in enumerate(names.case)}
    flows = {name: 1 << place for place, (name, _) in enumerate(names.flow)}
    of_kinds = [[0] * len(cases) for _ in kinds]
    state, row = case_state.c, results.c
    query = select(state.case, state.flow, row.outcome, row.word).join(results, row.job == state.number)
    for case, flow, *kind in connection.execute(query.where(row.run == run).execution_options(yield_per=_AT_ONCE)):
        of_kinds[kinds[kind[0], kind[1]]][cases[case]] |= flows[flow]
    return of_kinds


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
