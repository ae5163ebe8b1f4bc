"""What changed since the run before, for the page: with a plot of the last runs beside each metric."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.changes import RunChanges
from assay.reports import format as text
from assay.reports.change_order import gravest_first
from assay.reports.changes import HEADER, TITLE, Cell, Line, facts_between, heights
from assay.reports.sanitize import one_line

WIDE, HIGH, EDGE = 120.0, 24.0, 3.0
"""Of a plot, in its own units."""
OPEN = 8
"""Rows that are shown unfolded."""


def page_changes(changes: RunChanges | None) -> dict[str, object] | None:
    """The template's variables; None where there is nothing to compare with."""
    if changes is None:
        return None
    ordered = gravest_first(changes)
    shown = max(OPEN, len(ordered.cells) - ordered.unchanged)
    return {
        "title": TITLE,
        "facts": facts_between(changes),
        "commits": [one_line(commit) for commit in changes.commits],
        "open": OPEN,
        "cells": [_cell(cell) for cell in ordered.cells[:shown]],
        "rest": ordered.rest(shown),
        "unchanged": [_cell(cell) for cell in ordered.cells[shown:]],
    }


def _cell(cell: Cell) -> dict[str, object]:
    """Columns that would be empty in every line are left out."""
    lines = [_line(line) for line in cell.lines]
    shown = {"before": any(line.before for line in cell.lines), "change": any(line.change for line in cell.lines)}
    shown["trend"] = any(line["points"] for line in lines)
    head = dict(zip(("metric", "before", "after", "change", "trend"), (*HEADER[:-1], "last runs"), strict=True))
    return {
        "case": cell.case,
        "flow": cell.flow,
        "verdicts": cell.verdicts,
        "notes": cell.notes,
        "lines": lines,
        "header": [name for key, name in head.items() if shown.get(key, True)],
        "shown": shown,
    }


def _line(line: Line) -> dict[str, object]:
    points = plot(line.series)
    low, high = (min(line.series), max(line.series)) if points else (0.0, 0.0)
    return {
        "label": line.label,
        "before": line.before,
        "after": line.after,
        "change": line.change,
        "worse": line.worse,
        "points": " ".join(f"{x:g},{y:g}" for x, y in points),
        "end": points[-1] if points else (0.0, 0.0),
        "told": f"{len(points)} runs, from {text.number(low)} to {text.number(high)}",
    }


def plot(values: Sequence[float]) -> list[tuple[float, float]]:
    """Points of a line from the oldest value to the newest, the least at the bottom; none for fewer than three values."""
    points_high = heights(values)
    step = (WIDE - 2 * EDGE) / max(1, len(values) - 1)
    return [
        (round(EDGE + place * step, 1), round(HIGH - EDGE - height * (HIGH - 2 * EDGE), 1))
        for place, height in enumerate(points_high)
    ]
