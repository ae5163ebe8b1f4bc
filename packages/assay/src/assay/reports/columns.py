"""The columns of every report in one table: what each is called, where it stands, and how its value is made from a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from assay.reports import format as text
from assay.reports.rows import Row
from assay.reports.sanitize import one_line

Report = Literal["terminal", "markdown", "html", "upgrades", "csv", "suite-csv"]
EVERYWHERE: frozenset[Report] = frozenset({"terminal", "markdown", "html", "upgrades", "csv", "suite-csv"})


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """`title` is the header of Markdown and of the page, `short` the one where room is little ("" is the title), `field` the one
    of the CSV files. `value` is the metric at full precision (None: not observed), and `shown` its text for a person; a
    column without `value` is a text. `leave_out`: on a narrow screen columns go in this order, 0 never. `part`: what it is about,
    for the CSV of suites, where other columns stand between."""

    title: str
    shown: Callable[[Row], str]
    value: Callable[[Row], float | None] | None = None
    meaning: str = ""
    short: str = ""
    field: str = ""
    reports: frozenset[Report] = EVERYWHERE
    part: Literal["error", "cost"] = "cost"
    leave_out: int = 0

    @property
    def header(self) -> str:
        """Where room is little."""
        return self.short or self.title

    def exact(self, row: Row) -> float | None:
        """The metric; None for a text."""
        return self.value(row) if self.value is not None else None


_COLUMNS = (
    Column(
        title="Budget used",
        short="Budget",
        field="budget_used",
        meaning="observed error / allowed error, worst output",
        value=lambda row: row.figures.budget_used,
        shown=lambda row: text.budget(row.figures.budget_used, row.figures.is_bound),
        part="error",
    ),
    Column(
        title="Max abs",
        field="max_abs",
        meaning="largest absolute error, worst output",
        value=lambda row: row.figures.max_abs,
        shown=lambda row: text.number(row.figures.max_abs),
        part="error",
        leave_out=4,
    ),
    Column(
        title="Batch",
        field="batch",
        value=lambda row: row.figures.batch or None,
        shown=lambda row: str(row.figures.batch or ""),
        reports=frozenset({"csv"}),
    ),
    Column(
        title="Median",
        field="latency_median_s",
        meaning="median latency per call at the smallest batch size",
        value=lambda row: row.figures.median_s,
        shown=lambda row: text.milliseconds(row.figures.median_s),
        reports=EVERYWHERE - {"suite-csv"},
    ),
    Column(
        title="p90",
        field="latency_p90_s",
        meaning="90th percentile of latency; reported from 44 samples on",
        value=lambda row: row.figures.p90_s,
        shown=lambda row: text.milliseconds(row.figures.p90_s),
        reports=frozenset({"terminal", "markdown", "html", "csv"}),
        leave_out=2,
    ),
    Column(
        title="Peak memory",
        short="Peak mem",
        field="peak_memory_bytes",
        meaning="peak resident memory of load and run",
        value=lambda row: row.figures.memory_bytes or None,
        shown=lambda row: text.size(row.figures.memory_bytes),
        leave_out=3,
    ),
    Column(
        title="Slow-down",
        meaning="of the new engine against the old one, at its slowest batch size",
        value=lambda row: row.figures.slowdown_percent,
        shown=lambda row: text.change(row.figures.slowdown_percent),
        reports=frozenset({"terminal", "html"}),
    ),
    Column(
        title="Artifact",
        field="artifact_bytes",
        meaning="size of what would be deployed",
        value=lambda row: row.figures.artifact_bytes or None,
        shown=lambda row: text.size(row.figures.artifact_bytes),
        leave_out=1,
    ),
    Column(
        title="Reference",
        meaning="whose answers the outputs were compared with",
        shown=lambda row: one_line(row.reference),
        reports=frozenset({"terminal", "markdown"}),
        leave_out=5,
    ),
)


def columns_of(report: Report) -> Sequence[Column]:
    """Those of one report, from left to right."""
    return tuple(column for column in _COLUMNS if report in column.reports)
