"""Two runs side by side: what `assay report --against` computes, the cells that changed first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from assay.core.changes import RunChanges
from assay.core.result import Result
from assay.core.result_parts import speeds_of
from assay.core.run import Run
from assay.core.verdict import Verdict, VerdictStatus
from assay.errors import UsageError
from assay.judge.changes import cell_changes
from assay.pipeline.past_runs.against import PREVIOUS
from assay.pipeline.past_runs.run_changes import facts_between
from assay.ports.browsing import JobPair
from assay.reports.html_changes import page_changes
from assay.web.answer import Answer, NotFound, NothingToCompare, page_number
from assay.web.compare_past import with_past
from assay.web.format import status, worst_job
from assay.web.named_run import named_run
from assay.web.result_page import judge_cell
from assay.web.site import Cache, Site

CELLS = 25
WELL = ("", VerdictStatus.PASS.value, VerdictStatus.XFAIL.value, VerdictStatus.SKIP.value)
HEADER = ("case", "flow", "only_in", "verdict_before", "verdict_after", "metric", "before", "after")


class Compared(msgspec.Struct, frozen=True):
    """Of two runs, one page of their cells, those that changed first; the counts are of all `cells`."""

    old: str
    new: str
    changes: RunChanges
    newly_red: int
    newly_green: int
    added: int
    gone: int
    cells: int = 0


@dataclass(frozen=True)
class _Cell:
    """One cell in both runs: the words, and which run it is in alone."""

    case: str
    flow: str
    only: str
    words: tuple[str, str]
    keys: tuple[str, ...]

    def rank(self) -> tuple[int, str, str]:
        """Newly red, newly green, another verdict, gone, new, and what stayed."""
        if self.only:
            return (3 if self.only == "old" else 4), self.case, self.flow
        before, after = (word in WELL for word in self.words)
        if before != after:
            return (0 if before else 1), self.case, self.flow
        return (2 if self.words[0] != self.words[1] else 5), self.case, self.flow


@dataclass(frozen=True)
class _Pair:
    """Two runs without their jobs, and the cells that changed, the gravest change first; `cells` counts the others, too."""

    old: Run
    new: Run
    changed: Sequence[_Cell]
    cells: int


class _Said(msgspec.Struct, frozen=True):
    outcome: str
    word: str


def compare(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, UsageError where the two have nothing in common."""
    new, to = query.get("run", "last"), query.get("to", PREVIOUS)
    pair = site.moving.get(("compare", new, to), lambda: _read(site, new, to))
    page = page_number(query.get("page", ""))
    some = _shown(site, pair, (page - 1) * CELLS)
    if page > 1 and not some:
        raise NotFound("there is no such page: it lies behind the last one")
    changes = _kept(site, pair).get(("compared", pair.new.id, pair.old.id, some), lambda: _details(site, pair, some))
    ranks = Counter(change.rank()[0] for change in pair.changed)
    comparison = Compared(pair.old.id, pair.new.id, changes, ranks[0], ranks[1], ranks[4], ranks[3], pair.cells)
    values = {
        "found": comparison,
        "changes": page_changes(changes),
        "page": page,
        "more": pair.cells > page * CELLS,
        "cells": pair.cells,
    }
    rows = [
        (cell.case, cell.flow, cell.only, *cell.verdicts, delta.metric, delta.old, delta.new)
        for cell in changes.cells
        for delta in cell.deltas
    ]
    return Answer("compare.html.j2", values, comparison, HEADER, rows)


def _read(site: Site, named: str, to: str) -> _Pair:
    """From the short rows of both runs: no result is opened."""
    new = site.store.run_facts(named_run(site, named))
    if new.status == "running":
        raise UsageError(f"run {new.id} is under way: compare it when it is complete")
    other = named_run(site, to) if to != PREVIOUS else _previous(site, new)
    if other == new.id != to:
        other = named_run(site, to, new.id)  # the run is itself the newest of its branch: the one before
    old = site.store.run_facts(other)
    if old.id == new.id:
        raise UsageError(f"run {new.id} is compared with itself: name another one, `assay runs` lists them")
    pair = site.store.run_pair(old.id, new.id)
    if not pair.common:
        raise NothingToCompare(
            f"run {old.id} is about other models than run {new.id}; name a run with the same cases and flows, `assay runs` lists them"
        )
    return _Pair(old, new, tuple(sorted(_cells(pair.changed), key=_Cell.rank)), pair.cells)


def _previous(site: Site, new: Run) -> str:
    before = site.store.previous_run(new.id)
    if not before:
        raise NothingToCompare(
            f"no run before {new.id} has the same cases and flows: name one, `assay runs` lists them"
        )
    return before


def _shown(site: Site, pair: _Pair, first: int) -> tuple[_Cell, ...]:
    """The cells of a page: those that changed, and behind them the others."""
    some = tuple(pair.changed[first : first + CELLS])
    missing = CELLS - len(some)
    if not missing:
        return some
    changed = {(cell.case, cell.flow) for cell in pair.changed}
    others = site.store.same_cells(pair.old.id, pair.new.id, changed, max(0, first - len(pair.changed)), missing)
    return (*some, *_cells(others))


def _cells(jobs: Sequence[JobPair]) -> list[_Cell]:
    by_cell: dict[tuple[str, str], list[JobPair]] = {}
    for job in jobs:
        by_cell.setdefault((job.case, job.flow), []).append(job)
    return [_cell(*cell, of_cell) for cell, of_cell in by_cell.items()]


def _cell(case: str, flow: str, jobs: Sequence[JobPair]) -> _Cell:
    before = [_Said(*job.old) for job in jobs if job.old]
    after = [_Said(*job.new) for job in jobs if job.new]
    only = "" if before and after else "new" if after else "old"
    words = (status(worst_job(before)) if before else "", status(worst_job(after)) if after else "")
    return _Cell(case, flow, only, words, tuple(job.job_key for job in jobs))


def _details(site: Site, pair: _Pair, cells: Sequence[_Cell]) -> RunChanges:
    """Results are opened of these cells alone."""
    keys = {key for cell in cells for key in cell.keys}
    before, after = (list(site.store.results(run.id, keys)) for run in (pair.old, pair.new))
    words = {(cell.case, cell.flow): cell for cell in cells}
    change_by_cell = {
        (change.case, change.flow): replace(change, verdicts=words[change.case, change.flow].words)
        for change in cell_changes(before, after, verdicts=_decisions(site, pair.new, after))
    }
    shown = [change_by_cell[cell.case, cell.flow] for cell in cells if (cell.case, cell.flow) in change_by_cell]
    facts = _kept(site, pair).get(("between", pair.old.id, pair.new.id), lambda: facts_between(pair.old, pair.new))
    return replace(facts, cells=with_past(site, pair.new, shown))


def _kept(site: Site, pair: _Pair) -> Cache:
    """Where what is said of both is kept: for long where neither goes on, or may be resumed."""
    return site.settled if {pair.old.status, pair.new.status} == {"complete"} else site.moving


def _decisions(site: Site, run: Run, results: Sequence[Result]) -> list[Verdict]:
    """The verdicts on speeds that were compared side by side: their reasons are shown."""
    verdicts: list[Verdict] = []
    for result in results:
        if speeds_of(result):
            whole, of_cell = site.store.cell(run.id, result.case, result.flow)
            verdicts += judge_cell(site, whole, of_cell).verdicts
    return verdicts
