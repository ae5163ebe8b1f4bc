"""Operators counted by kind, place and type, and the coarsest type among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.engine_info import Placement


def count(rows: Iterable[tuple[str, str, str] | tuple[str, str, str, str]]) -> tuple[Placement, ...]:
    """One Placement for every distinct (operator, device, precision), in alphabetical order; a fourth part is the role."""
    return tuple(
        Placement(*row[:3], count=times, role=row[3] if len(row) == 4 else "")
        for row, times in sorted(Counter(rows).items())
    )


def coarsest(placements: Iterable[Placement]) -> str:
    """The floating type of the largest unit roundoff that any operator ran in; "" where none is floating."""
    floating = {placement.precision for placement in placements} & set(UNIT_ROUNDOFF)
    return max(sorted(floating), key=UNIT_ROUNDOFF.__getitem__, default="")
