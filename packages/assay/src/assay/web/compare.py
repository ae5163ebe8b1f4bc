"""Two runs side by side: what `assay report --against` computes, the cells that changed first."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.commands.composition import reading_services
from assay.core.changes import CellChange, RunChanges
from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.pipeline.against import PREVIOUS, against
from assay.pipeline.rejudge import rejudge
from assay.reports.html_changes import page_changes
from assay.web.answer import Answer, NotFound, page_number
from assay.web.site import Site

CELLS = 25
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


def compare(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, UsageError where the two have nothing in common."""
    wanted, to = query.get("run", "last"), query.get("to", PREVIOUS)
    new = site.store.run(wanted).id if wanted == "last" else wanted
    found = site.settled.get(("compare", new, to), lambda: _read(site, new, to))
    page = page_number(query.get("page", ""))
    shown = found.changes.cells[(page - 1) * CELLS : page * CELLS]
    if page > 1 and not shown:
        raise NotFound("there is no such page: it lies behind the last one")
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


def _read(site: Site, new: str, to: str) -> Compared:
    services = reading_services(site.folder, site.store)
    checked = rejudge(new, None, services)
    if checked.run.status == "running":
        raise UsageError(f"run {checked.run.id} is under way: compare it when it is complete")
    changes = against(to, checked, services).judgement.changes
    assert changes is not None
    cells = sorted(changes.cells, key=_rank)
    turned = [(_is_well(one, 0), _is_well(one, 1)) for one in cells if not one.only]
    return Compared(
        changes.old.removeprefix("run "),
        checked.run.id,
        msgspec.structs.replace(changes, cells=tuple(cells)),
        newly_red=turned.count((True, False)),
        newly_green=turned.count((False, True)),
        added=sum(one.only == "new" for one in cells),
        gone=sum(one.only == "old" for one in cells),
    )


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
