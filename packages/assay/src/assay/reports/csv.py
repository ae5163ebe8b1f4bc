"""One line per job for a spreadsheet, at full precision; of a summary of mutants one for each operator besides."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.reports.columns import columns_of
from assay.reports.mutation_scores import MutationScore, mutation_scores
from assay.reports.rows import Entry, entries, row_of
from assay.reports.sanitize import one_line

COLUMNS = (
    "run",
    "case",
    "flow",
    "kind",
    "verdict",
    "reason",
    "outcome",
    "stage",
    *(column.field for column in columns_of("csv")),
    "seconds",
    "mutants_of",
    "mutants_killed",
    "mutants_survived",
    "kill_rate",
    "kill_rate_low",
    "kill_rate_high",
)
RATES = 6
"""Of the columns, those at the end about mutants."""


class Csv:
    """Columns as in `COLUMNS`, always the same; a cell is empty where nothing was observed."""

    name = "csv"
    suffix = ".csv"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Lines end in a bare newline; text that a spreadsheet would take for a formula starts with an apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for entry in entries(run, results, judgement):
            cells = _cells(run, entry)
            rates = mutation_scores([entry.result] if entry.result else [])
            writer.writerows([*cells, *_rate(rate)] for rate in rates)
            if not rates:
                writer.writerow([*cells, *[""] * RATES])
        return out.getvalue()


def _rate(score: MutationScore) -> list[str]:
    """`mutants_of` is `mutation operator drop-bias`, `operator of the model Conv`, or empty for all."""
    figures = (score.rate, score.low, score.high)
    return [
        guarded(f"{score.group} {score.name}".strip()),
        str(score.killed),
        str(score.survived),
        *map(_metric, figures),
    ]


def _cells(run: Run, entry: Entry) -> list[str]:
    case, flow = entry.names
    row = row_of([entry])
    result = entry.result
    return [
        *(guarded(text) for text in (run.id, case, flow, entry.kind, entry.word, entry.reason)),
        result.outcome.value if result else "",
        result.stage.value if result else "",
        *(_metric(column.exact(row)) for column in columns_of("csv")),
        _metric(result.seconds if result else None),
    ]


def guarded(text: str) -> str:
    """One line that no spreadsheet evaluates (OWASP, CSV injection: = + - @, also in their full-width forms)."""
    clean = one_line(text)
    return f"'{clean}" if clean.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else clean


def _metric(value: float | None) -> str:
    return "" if value is None else repr(value)
