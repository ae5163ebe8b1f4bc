"""The matrix operator × flow as one small HTML page: how many cases of each passed, and what the others were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Sized
from html import escape

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.judge.outcome_table import OUTCOMES, outcome_words
from assay.reports.rows import Row, common_prefix, headline, rows
from assay.reports.sanitize import one_line

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px system-ui, sans-serif; margin: 1.5em; } div { overflow: auto; max-height: 85vh; }
table { border-collapse: separate; border-spacing: 0; }
th, td { border: solid light-dark(#ccc, #444); border-width: 0 1px 1px 0; padding: .2em .6em; text-align: right; vertical-align: top; }
th { position: sticky; top: 0; z-index: 1; border-top-width: 1px; background: Canvas; }
th:first-child, td:first-child { position: sticky; left: 0; text-align: left; border-left-width: 1px; background: Canvas; }
th:first-child { z-index: 2; } small { display: block; opacity: .8; }
.all { background: light-dark(#d6f5d6, #143d14); } .known { background: light-dark(#e4e9f2, #232c3d); }
.some { background: light-dark(#fff3c4, #4d420f); } .none { background: light-dark(#f9d0d0, #4d1414); } .empty { color: #999; }
p span { padding: .1em .5em; }
"""
_LEGEND = (
    '<p>Passed / run, and what the rest was: <span class="all">all passed</span> <span class="known">the rest as expected</span> '
    '<span class="some">some failed</span> <span class="none">all failed</span></p>'
)
_EXPECTED = frozenset({"pass", "xfail", "skip"})


class Matrix:
    """A row per operator (`rows.stem` of a case's name), a column per flow; no script, no network."""

    name = "matrix"
    suffix = ".html"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Cells say passed / run, and what the rest were."""
        table_rows = rows(run, results, judgement)
        flows = sorted({row.flow for row in table_rows})
        table: dict[str, dict[str, list[Row]]] = {}
        for row in table_rows:
            table.setdefault(common_prefix(row.case)[0], {}).setdefault(row.flow, []).append(row)
        word, reason = headline(judgement)
        lines = [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Assay matrix</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<style>{_STYLE}</style></head><body><h1>{escape(word)}</h1><p>{_text(reason)}</p>",
            f"<p>Run {_text(run.id)}: {_many(table_rows, 'cell')}, {_many(table, 'operator')}, {_many(flows, 'flow')}.</p>",
            _LEGEND,
            f"<div><table><tr><th>operator</th>{''.join(f'<th>{_text(flow)}</th>' for flow in flows)}</tr>",
        ]
        for name in sorted(table):
            cells = "".join(_cell(table[name].get(flow, ())) for flow in flows)
            lines.append(f"<tr><td>{_text(name)}</td>{cells}</tr>")
        return "\n".join([*lines, "</table></div>", *_missing(table_rows), "</body></html>"]) + "\n"


def tally(table_rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, dict[str, Counter[str]]]:
    """Verdicts counted by key and flow."""
    table: dict[str, dict[str, Counter[str]]] = {}
    for row in table_rows:
        table.setdefault(key(row), {}).setdefault(row.flow, Counter())[row.word or "not run"] += 1
    return table


def _cell(table_rows: Sequence[Row]) -> str:
    if not table_rows:
        return '<td class="empty">–</td>'
    good = sum(row.word == "pass" for row in table_rows)
    rest = Counter(_what(row) for row in table_rows if row.word != "pass")
    expected = all(row.word in _EXPECTED for row in table_rows)
    kind = "all" if good == len(table_rows) else "known" if expected else "some" if good else "none"
    text = "".join(f"<small>{count} {_text(what)}</small>" for what, count in sorted(rest.items()))
    return f'<td class="{kind}">{good}/{len(table_rows)}{text}</td>'


def _missing(table_rows: Sequence[Row]) -> list[str]:
    """Why a flow could not run on this machine, once for each reason."""
    reasons = Counter(
        f"{_text(row.flow)}: {_text(entry.reason)}"
        for row in table_rows
        for entry in row.entries
        if entry.result is not None and OUTCOMES[entry.result.outcome].about == "machine"
    )
    items = [f"<li>{reason} ({_many(range(count), 'job')})</li>" for reason, count in sorted(reasons.items())]
    return ["<h2>Not available here</h2>", "<ul>", *items, "</ul>"] if items else []


def _what(row: Row) -> str:
    """The outcome that the gravest verdict is about, else the verdict."""
    outcomes = [
        entry.result.outcome.value for entry in row.entries if entry.word == row.word and entry.result is not None
    ]
    failures = [outcome_words(outcome) for outcome in outcomes if outcome != "ok"]
    return failures[0] if failures else row.word or "not run"


def _text(value: str) -> str:
    return escape(one_line(value), quote=True)


def _many(things: Sized, noun: str) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"
