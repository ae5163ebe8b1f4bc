"""Which rows of a comparison a reader sees first: what got worse, what is wrong still, what else changed, and then the rest."""

from __future__ import annotations

import enum

import msgspec

from assay.core.changes import CellChange, RunChanges
from assay.core.verdict import VerdictStatus
from assay.reports.changes import Cell, cells

_WORST_FIRST = tuple(
    status.value
    for status in (
        VerdictStatus.ERROR, VerdictStatus.FAIL, VerdictStatus.XPASS, VerdictStatus.INCONCLUSIVE, VerdictStatus.SKIP,
        VerdictStatus.XFAIL, VerdictStatus.PASS,
    )
)  # fmt: skip
_RED = _WORST_FIRST[:3]


class Rank(enum.IntEnum):
    """What is to be seen first has the least number."""

    WORSE = 0
    RED = 1
    MOVED = 2
    OTHERWISE = 3
    UNCHANGED = 4


class OrderedCells(msgspec.Struct, frozen=True):
    """`cells` as they are to be read. The last `unchanged` of them differ in nothing that is marked."""

    cells: tuple[Cell, ...]
    unchanged: int

    def rest(self, shown: int) -> str:
        """What is said of those behind the first `shown`; "" where there are none."""
        left = len(self.cells) - shown
        if left <= 0:
            return ""
        same = min(left, self.unchanged)
        if same == left:
            return f"{left} more without a change"
        return f"{left} more" + (f", {same} of them without a change" if same else "")


def gravest_first(changes: RunChanges) -> OrderedCells:
    """Those of one rank in the order of the run."""
    ranked = [(_rank(change, cell), cell) for change, cell in zip(changes.cells, cells(changes), strict=True)]
    ranked.sort(key=lambda pair: pair[0])
    return OrderedCells(tuple(cell for _, cell in ranked), sum(rank is Rank.UNCHANGED for rank, _ in ranked))


def _rank(change: CellChange, cell: Cell) -> Rank:
    before, after = change.verdicts
    if change.only == "old" or (after in _RED and not before) or _is_worse(after, before):
        return Rank.WORSE
    if after in _RED:
        return Rank.RED
    if change.only or before != after or change.new_warnings or change.lost_fusion or _marked(cell, 1):
        return Rank.MOVED
    return Rank.OTHERWISE if change.gone_warnings or change.engine or _marked(cell, -1) else Rank.UNCHANGED


def _is_worse(after: str, before: str) -> bool:
    return bool(after and before) and _WORST_FIRST.index(after) < _WORST_FIRST.index(before)


def _marked(cell: Cell, way: int) -> bool:
    return any(line.worse == way for line in cell.lines)
