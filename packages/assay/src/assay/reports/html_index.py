"""What the page's table needs of every row: names, verdict, reason, metrics to sort by and their text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.outcome import Outcome
from assay.judge.outcome_table import outcome_words
from assay.reports.columns import columns_of
from assay.reports.rows import SEVERITY, Row
from assay.reports.sanitize import one_line

COLUMNS = columns_of("html")
REASON_LIMIT = 300
OK_OUTCOMES = (Outcome.OK, Outcome.MISMATCH)
"""Outcomes that a metric speaks for. Right answers in another precision, or that prove nothing, must not read like a pass:
there a cell says the outcome, whatever was measured."""


def index(rows: Sequence[Row], rows_per_block: int) -> dict[str, object]:
    """`rows` are [case, flow, word, reason, [metric or null ...], [its text ...], outcome, answered], metrics as `COLUMNS`.
    A cell of the matrix shows its metric where `answered`, else its outcome."""
    return {
        "severity": [word or "not run" for word in SEVERITY],
        "columns": [[column.title, column.meaning] for column in COLUMNS],
        "rowsPerBlock": rows_per_block,
        "rows": [_row(row) for row in rows],
    }


def _row(row: Row) -> list[object]:
    gravest = next((entry for entry in row.entries if entry.word == row.word), None)
    reason = gravest.reason if gravest else ""
    outcome = gravest.result.outcome if gravest and gravest.result else None
    return [
        one_line(row.case),
        one_line(row.flow),
        row.word or "not run",
        one_line(reason)[:REASON_LIMIT],
        [_sortable(column.exact(row)) for column in COLUMNS],
        [column.shown(row) for column in COLUMNS],
        outcome_words(outcome) if outcome else "",
        outcome in OK_OUTCOMES,
    ]


def _sortable(value: float | None) -> float | None:
    """JSON has neither NaN nor infinity; both sort as the worst there is."""
    if value is None or math.isfinite(value):
        return value
    return -1e308 if value < 0 else 1e308
