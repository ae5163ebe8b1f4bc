"""The matrix operator × flow as one small HTML page: how many cases of each passed, and what the others were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import Judgement
from assay.reports.plain import one_line
from assay.reports.rows import Row, headline, rows

_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2em; } table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: right; } th:first-child, td:first-child { text-align: left; }
.all { background: #d6f5d6; } .some { background: #fff3c4; } .none { background: #f9d0d0; } .empty { color: #999; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } .all { background: #143d14; }
.some { background: #4d420f; } .none { background: #4d1414; } }
"""


class Matrix:
    """A row per operator (what stands in a case's name before the first dash), a column per flow; no script, no network."""

    name = "matrix"
    suffix = ".html"

    def render(self, run: Run, results: Sequence[Result], judgement: Judgement) -> str:
        """Cells say passed / run; the title of a cell says what the rest were."""
        found = rows(run, results, judgement)
        flows = sorted({row.flow for row in found})
        table = tally(found, lambda row: row.case.partition("-")[0] if "/" in row.case else row.case)
        word, reason = headline(judgement)
        lines = [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Assay matrix</title>',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<style>{_STYLE}</style></head><body><h1>{escape(word)}</h1><p>{_text(reason)}</p>",
            f"<p>Run {_text(run.id)}: {len(found)} cells, {len(table)} operators, {len(flows)} flows.</p>",
            f"<table><tr><th>operator</th>{''.join(f'<th>{_text(flow)}</th>' for flow in flows)}</tr>",
        ]
        for name in sorted(table):
            cells = "".join(_cell(table[name].get(flow, Counter())) for flow in flows)
            lines.append(f"<tr><td>{_text(name)}</td>{cells}</tr>")
        return "\n".join([*lines, "</table></body></html>"]) + "\n"


def tally(found: Sequence[Row], key: Callable[[Row], str]) -> dict[str, dict[str, Counter[str]]]:
    """Verdicts counted by key and flow."""
    table: dict[str, dict[str, Counter[str]]] = {}
    for row in found:
        table.setdefault(key(row), {}).setdefault(row.flow, Counter())[row.word or "not run"] += 1
    return table


def _cell(words: Mapping[str, int]) -> str:
    total = sum(words.values())
    if not total:
        return '<td class="empty">–</td>'
    good = words.get("pass", 0)
    rest = ", ".join(f"{count} {word}" for word, count in sorted(words.items()) if word != "pass")
    kind = "all" if good == total else "some" if good else "none"
    return f'<td class="{kind}" title="{_text(rest)}">{good}/{total}</td>'


def _text(value: str) -> str:
    return escape(one_line(value), quote=True)
