"""Two runs side by side: what `assay report --against` computes, the cells that changed first."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from assay.commands.composition import reading_services
from assay.core.changes import CellChange, RunChanges
from assay.core.run import Run
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.pipeline.against import PREVIOUS, against
from assay.pipeline.rejudge import rejudge
from assay.pipeline.run_changes import with_past
from assay.reports.html_changes import page_changes
from assay.web.answer import Answer, NotFound, page_number
from assay.web.site import Site

CELLS = 25
_ONE = threading.Lock()
WELL = ("", VerdictStatus.PASS.value, VerdictStatus.XFAIL.value, VerdictStatus.SKIP.value)
HEADER = ("case", "flow", "only_in", "verdict_before", "verdict_after", "metric", "before", "after")


class Compared(msgspec.Struct, frozen=True):
    """Of two runs, the cells that changed first."""

    old: str
    new: str
    changes: RunChanges
    newly_red: int
    newly_green: int
    added: int
    gone: int


@dataclass(frozen=True)
class _Whole:
    """What is kept of a comparison: `run` has no jobs, `keys` are those of the jobs of each cell."""

    found: Compared
    run: Run
    keys: Mapping[tuple[str, str], Sequence[str]]


def compare(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, UsageError where the two have nothing in common."""
    new, to = site.store.run_facts(query.get("run", "last")).id, query.get("to", PREVIOUS)
    whole = site.settled.get(("compare", new, to), lambda: _read(site, new, to))
    found, page = whole.found, page_number(query.get("page", ""))
    shown = found.changes.cells[(page - 1) * CELLS : page * CELLS]
    if page > 1 and not shown:
        raise NotFound("there is no such page: it lies behind the last one")
    keys = {key for cell in shown for key in whole.keys.get((cell.case, cell.flow), ())}
    shown = with_past(shown, keys, whole.run, reading_services(site.folder, site.store))
    values = {
        "found": found,
        "changes": page_changes(msgspec.structs.replace(found.changes, cells=shown)),
        "page": page,
        "more": len(found.changes.cells) > page * CELLS,
        "cells": len(found.changes.cells),
    }
    rows = [
        (cell.case, cell.flow, cell.only, *cell.verdicts, delta.metric, delta.old, delta.new)
        for cell in found.changes.cells
        for delta in cell.deltas
    ]
    return Answer("compare.html.j2", values, found, HEADER, rows)


def _read(site: Site, new: str, to: str) -> _Whole:
    """One at a time: of large runs it takes seconds, and pages of others are to be answered beside it."""
    with _ONE:
        return _compare(site, new, to)


def _compare(site: Site, new: str, to: str) -> _Whole:
    services = reading_services(site.folder, site.store)
    checked = rejudge(new, None, services)
    if checked.run.status == "running":
        raise UsageError(f"run {checked.run.id} is under way: compare it when it is complete")
    changes = against(to, checked, services, past=False).judgement.changes
    assert changes is not None
    cells = sorted(changes.cells, key=_rank)
    turned = [(_is_well(one, 0), _is_well(one, 1)) for one in cells if not one.only]
    keys: dict[tuple[str, str], list[str]] = {}
    for result in checked.results:
        keys.setdefault((result.case, result.flow), []).append(result.job_key)
    found = Compared(
        changes.old.removeprefix("run "),
        checked.run.id,
        msgspec.structs.replace(changes, cells=tuple(cells)),
        newly_red=turned.count((True, False)),
        newly_green=turned.count((False, True)),
        added=sum(one.only == "new" for one in cells),
        gone=sum(one.only == "old" for one in cells),
    )
    return _Whole(found, msgspec.structs.replace(checked.run, jobs=()), keys)


def _is_well(one: CellChange, side: int) -> bool:
    return one.verdicts[side] in WELL


def _rank(one: CellChange) -> tuple[int, str, str]:
    """Newly red, newly green, another verdict, gone, new, and what stayed."""
    if one.only:
        return (3 if one.only == "old" else 4), one.case, one.flow
    before, after = _is_well(one, 0), _is_well(one, 1)
    if before != after:
        return (0 if before else 1), one.case, one.flow
    return (2 if one.verdicts[0] != one.verdicts[1] else 5), one.case, one.flow
