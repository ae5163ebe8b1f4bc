"""The nodes of a per-node job, ranked: by their own error, and by the error that they add against the float model."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from assay.core.node_error import NodeError
from assay.core.result import PerNodeResult, Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.reports import format as text
from assay.reports.csv import guarded
from assay.reports.sanitize import one_line

RANKED = 10
"""Nodes of each table on a screen; the HTML report and the CSV file have all."""
HEAD = ("#", "node", "operator", "own budget", "SQNR dB", "adds", "cosine")
COLUMNS = (
    "run", "case", "flow", "position", "node", "operator", "output",
    "budget_used", "sqnr_db", "added_rel_l2", "cosine", "max_abs",
)  # fmt: skip

Table = tuple[str, tuple[str, ...], list[list[str]]]


def node_tables(result: Result, *, names: int) -> list[Table]:
    """Title, header and lines of each ranking; `names` are the characters that a node's name may take."""
    if not isinstance(result, PerNodeResult):
        return []
    judged = [error for error in result.node_errors if error.budget_used is not None]
    compared = [error for error in result.node_errors if error.added_rel_l2]
    tables: list[Table] = []
    for title, errors in (
        ("Nodes by their own error, on the engine's own inputs (budget: 1 is what is allowed)", by_own_error(judged)),
        ("Nodes by the relative error that they add against the float model in float64", by_added_error(compared)),
    ):
        if errors:
            more = f", {RANKED} of {len(errors)}" if len(errors) > RANKED else ""
            tables.append((f"{title}{more}:", HEAD, [_line(error, names) for error in errors[:RANKED]]))
    return tables


def by_own_error(errors: Sequence[NodeError]) -> list[NodeError]:
    """Largest budget used first, then in the order of the graph."""
    return sorted(errors, key=lambda error: (-(error.budget_used or 0.0), error.position))


def by_added_error(errors: Sequence[NodeError]) -> list[NodeError]:
    """Largest added error first, then in the order of the graph."""
    return sorted(errors, key=lambda error: (-(error.added_rel_l2 or 0.0), error.position))


def _line(error: NodeError, names: int) -> list[str]:
    return [
        str(error.position),
        _end_of(one_line(error.node), names),
        one_line(error.operator),
        text.number(error.budget_used),
        _decibel(error.sqnr_db),
        text.number(error.added_rel_l2),
        "" if error.cosine is None else f"{error.cosine:.6f}",
    ]


def _end_of(name: str, length: int) -> str:
    """The end of a long name tells nodes apart: exporters put the path of the module first."""
    return name if len(name) <= length else f"...{name[3 - length :]}"


def _decibel(value: float | None) -> str:
    return "" if value is None else "exact" if value == math.inf else f"{value:.1f}"


def node_rows(result: Result) -> list[list[object]]:
    """For the HTML report, in the order of the graph: position, node, operator, the texts of budget, SQNR, added error and
    cosine, the output, and the numbers to plot (null where there is none or it is not finite): budget, SQNR,
    added error."""
    return [
        [
            error.position, one_line(error.node), one_line(error.operator),
            text.number(error.budget_used), _decibel(error.sqnr_db), text.number(error.added_rel_l2),
            "" if error.cosine is None else f"{error.cosine:.6f}", one_line(error.output),
            _finite(error.budget_used), _finite(error.sqnr_db), _finite(error.added_rel_l2),
        ]
        for error in (result.node_errors if isinstance(result, PerNodeResult) else ())
    ]  # fmt: skip


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


class PerNodeCsv:
    """One line per node of every per-node job, in the order of the graph, at full precision."""

    name = "per-node"
    suffix = ".csv"

    def render(self, run: Run, results: Sequence[Result], _: RunVerdict) -> str:
        """Columns as in `COLUMNS`; a cell is empty where nothing was observed."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for result in results:
            for error in result.node_errors if isinstance(result, PerNodeResult) else ():
                figures = (error.budget_used, error.sqnr_db, error.added_rel_l2, error.cosine, error.max_abs)
                names = (guarded(name) for name in (error.node, error.operator, error.output))
                writer.writerow(
                    [
                        guarded(run.id), guarded(result.case), guarded(result.flow), error.position, *names,
                        *("" if metric is None else repr(metric) for metric in figures),
                    ]
                )  # fmt: skip
        return out.getvalue()
