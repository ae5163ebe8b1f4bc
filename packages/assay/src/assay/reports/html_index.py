"""What the page's table needs of every row: names, verdict, reason, figures to sort by and their text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.result import Outcome
from assay.judge.outcome_table import outcome_words
from assay.reports import format as text
from assay.reports.rows import SEVERITY, Row
from assay.reports.sanitize import one_line

COLUMNS = (
    ("Budget used", "observed error / allowed error, worst output"),
    ("Max abs", "largest absolute error, worst output"),
    ("Median", "median latency per call at the smallest batch size"),
    ("p90", "90th percentile of latency; reported from 44 samples on"),
    ("Peak memory", "peak resident memory of load and run"),
    ("Slow-down", "of the new engine against the old one, at its slowest batch size"),
    ("Artifact", "size of what would be deployed"),
)

REASON_LIMIT = 300
OK_OUTCOMES = (Outcome.OK, Outcome.MISMATCH)
"""Outcomes that a figure speaks for. Right answers in another precision, or that prove nothing, must not read like a pass:
there a cell says the outcome, whatever was measured."""


def index(found: Sequence[Row], rows_per_block: int) -> dict[str, object]:
    """`rows` are [case, flow, word, reason, [figure or null ...], [its text ...], outcome, answered], figures as `COLUMNS`.
    A cell of the matrix shows its figure where `answered`, else its outcome."""
    return {
        "severity": [word or "not run" for word in SEVERITY],
        "columns": [list(column) for column in COLUMNS],
        "rowsPerBlock": rows_per_block,
        "rows": [_row(row) for row in found],
    }


def _row(row: Row) -> list[object]:
    seen = row.figures
    figures = (
        seen.budget_used,
        seen.max_abs,
        seen.median_s,
        seen.p90_s,
        seen.memory_bytes or None,
        seen.slowdown_percent,
        seen.artifact_bytes or None,
    )
    texts = (
        text.budget(seen.budget_used, seen.is_bound),
        text.number(seen.max_abs),
        text.milliseconds(seen.median_s),
        text.milliseconds(seen.p90_s),
        text.size(seen.memory_bytes),
        text.change(seen.slowdown_percent),
        text.size(seen.artifact_bytes),
    )
    gravest = next((entry for entry in row.entries if entry.word == row.word), None)
    reason = gravest.reason if gravest else ""
    outcome = gravest.result.outcome if gravest and gravest.result else None
    return [
        one_line(row.case),
        one_line(row.flow),
        row.word or "not run",
        one_line(reason)[:REASON_LIMIT],
        [_sortable(value) for value in figures],
        list(texts),
        outcome_words(outcome) if outcome else "",
        outcome in OK_OUTCOMES,
    ]


def _sortable(value: float | None) -> float | None:
    """JSON has neither NaN nor infinity; both sort as the worst there is."""
    if value is None or math.isfinite(value):
        return value
    return -1e308 if value < 0 else 1e308
