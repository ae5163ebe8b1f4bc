"""The table of the report for the screen: one row for each case and flow, as wide as the screen allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.reports.columns import columns_of
from assay.reports.rows import SEVERITY, Row
from assay.reports.sanitize import one_line

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    "pass": "green",
    "fail": "bold red",
    "error": "bold red",
    "xpass": "bold magenta",
    "inconclusive": "yellow",
    "skip": "dim",
    "xfail": "cyan",
    "": "yellow",
}
ROWS_SHOWN = 60
NARROWEST_CASE = 18
GAP = 3
COLUMNS = columns_of("terminal")
OPTIONAL = tuple(column.header for column in sorted(COLUMNS, key=lambda column: column.leave_out) if column.leave_out)
"""Left out in this order where the screen is too narrow for all."""
LEFT = ("Verdict", "Case", "Flow", *(column.header for column in COLUMNS if column.value is None))


def print_table(console: Console, rows: Sequence[Row]) -> None:
    if not rows:
        console.print("No job was planned and no result was recorded: nothing was executed.")
        return
    shown = _shown(rows)
    lines = _without_empty([_cells(row) for row in shown])
    hidden = _hidden(lines, console.width)
    _print_columns(console, [name for name in lines[0] if name not in hidden], lines)
    if len(shown) < len(rows):
        console.print(
            f"{len(rows) - len(shown)} more rows, none worse than these, are in the other reports.", style="dim"
        )
    if hidden:
        console.print(
            f"Not shown at this width: {', '.join(name for name in lines[0] if name in hidden)}.", style="dim"
        )
    batches = sorted({row.figures.batch for row in shown if row.figures.batch})
    if batches:
        console.print(f"Latency at batch {', '.join(map(str, batches))}.", style="dim")


def _shown(rows: Sequence[Row]) -> Sequence[Row]:
    """All rows in their order, or the gravest where there are too many."""
    if len(rows) <= ROWS_SHOWN:
        return rows
    return sorted(rows, key=lambda row: SEVERITY.index(row.word))[:ROWS_SHOWN]


def _cells(row: Row) -> dict[str, str]:
    return {
        "Verdict": row.word or "not run",
        "Case": one_line(row.case),
        "Flow": one_line(row.flow),
        **{column.header: column.shown(row) for column in COLUMNS},
    }


def _without_empty(lines: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Without the columns that have no metric at all: nothing was measured, say."""
    filled = [name for name in lines[0] if any(line[name] for line in lines)]
    return [{name: line[name] for name in filled} for line in lines]


def _hidden(lines: Sequence[dict[str, str]], width: int) -> set[str]:
    """The columns to leave out, optional ones in their order, until names have room."""
    wide = {name: max(len(name), *(len(line[name]) for line in lines)) for name in lines[0]}
    hidden: set[str] = set()
    for name in filter(wide.__contains__, OPTIONAL):
        names = min(wide["Case"], NARROWEST_CASE) + min(wide["Flow"], NARROWEST_CASE)
        figures = sum(
            space for column, space in wide.items() if column not in hidden and column not in ("Case", "Flow")
        )
        if names + figures + GAP * (len(wide) - len(hidden) - 1) <= width:
            break
        hidden.add(name)
    return hidden


def _print_columns(console: Console, names: Sequence[str], lines: Sequence[dict[str, str]]) -> None:
    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    # ASCII: a pipe may lead to a console that cannot show line-drawing characters.
    rule = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
    table = Table(box=rule, padding=(0, 1), pad_edge=False, show_edge=False, header_style="bold")
    for name in names:
        figures = name not in LEFT
        table.add_column(
            name,
            justify="right" if figures else "left",
            no_wrap=name not in ("Case", "Flow"),
            overflow="fold",
        )
    figures_wide = sum(_wide(lines, name) + GAP for name in names if name not in ("Case", "Flow"))
    for line in _with_folded_names(lines, console.width - figures_wide - GAP):
        style = STYLES.get(line["Verdict"], STYLES[""])  # of a job that was not run: ""
        table.add_row(*(Text(line[name], style=style if name == "Verdict" else "") for name in names))
    console.print(table)


def _wide(lines: Sequence[dict[str, str]], name: str) -> int:
    return max(len(name), *(len(part) for line in lines for part in line[name].split("\n")))


def _with_folded_names(lines: Sequence[dict[str, str]], room: int) -> list[dict[str, str]]:
    """Cases and flows side by side in so much room, where it is enough: flows are as wide as they are, as long as cases keep some."""
    flows = max(room - min(_wide(lines, "Case"), NARROWEST_CASE), NARROWEST_CASE)
    named = [{**line, "Flow": folded(line["Flow"], flows)} for line in lines]
    cases = max(room - _wide(named, "Flow"), NARROWEST_CASE)
    return [{**line, "Case": folded(line["Case"], cases)} for line in named]


def folded(name: str, width: int) -> str:
    """A name in lines of at most that width, each as long as can be, ended behind a mark where there is one."""
    lines = [""]
    for part in re.findall(r"[^-_,/]*[-_,/]|[^-_,/]+", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)
