"""A summary of a run over suites: the pass table by flow, by element type, what the failures are, and how to repeat them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.options.repro import repro_line
from assay.reports.markdown import as_code, critical_lines, escaped
from assay.reports.matrix import tally
from assay.reports.rows import SEVERITY, Row, common_prefix, headline, rows, skipped_note
from assay.reports.sanitize import one_line

FAILURES_SHOWN = 100
_WORDS = ("pass", "xfail", "skip", "inconclusive", "xpass", "fail", "error", "not run")


class SuiteMarkdown:
    """GitHub's dialect, for a job summary; at most `FAILURES_SHOWN` failing cases, the rest counted."""

    name = "suite-markdown"
    suffix = ".md"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Names and messages are escaped: none can end a table or a link."""
        table_rows = rows(run, results, judgement)
        word, reason = headline(judgement)
        note = skipped_note(judgement)
        lines = [f"## Assay: {word}{f', {note}' if note else ''}", "", escaped(reason), ""]
        lines += ["### By flow", "", *_table("flow", table_rows, lambda row: row.flow), ""]
        lines += ["### By suite and flow", "", *_table("suite", table_rows, _suite), ""]
        lines += ["### By element type and flow", "", *_table("type", table_rows, _types), ""]
        lines += _tiers(table_rows)
        lines += _weighted(table_rows)
        lines += [*_outcomes(table_rows), *_failing(run, table_rows)]
        return "\n".join([*lines, *critical_lines(table_rows, judgement.changes)]) + "\n"


def _suite(row: Row) -> str:
    return f"{row.case.partition('/')[0]} on {row.flow}"


def _types(row: Row) -> str:
    job = row.entries[0].job
    types = sorted({tensor_spec.dtype for tensor_spec in job.case.model.inputs}) if job else []
    return f"{', '.join(types) or 'no input'} on {row.flow}"


def _tiers(table_rows: Sequence[Row]) -> list[str]:
    """Of the operators, whose names say it behind the first dash: `operators/conv2d-float32-smoke-...`."""
    own = [row for row in table_rows if row.case.startswith("operators/") and row.case.count("-") > 1]
    if not own:
        return []
    return ["### By tier of the operators", "", *_table("type and tier", own, _tier), ""]


def _tier(row: Row) -> str:
    dtype, tier, *_ = common_prefix(row.case)[1].split("-")
    return f"{dtype} {tier} on {row.flow}"


def _table(what: str, table_rows: Sequence[Row], key: Callable[[Row], str]) -> list[str]:
    table = tally(table_rows, key)
    lines = [f"| {what} | cases | passed | {' | '.join(_WORDS)} |", "|---|--:|--:|" + "--:|" * len(_WORDS)]
    for name in sorted(table):
        words = sum(table[name].values(), Counter[str]())
        total = sum(words.values())
        cells = " | ".join(str(words[word] or "") for word in _WORDS)
        lines.append(f"| {escaped(name, 120)} | {total} | {100 * words['pass'] / total:.1f} % | {cells} |")
    return lines


def _weighted(table_rows: Sequence[Row]) -> list[str]:
    """Mined operators weigh as much as they are used: nothing where no case is used more than once."""
    uses = {id(row): row.entries[0].job.case.uses if row.entries[0].job else 1 for row in table_rows}
    if not any(count > 1 for count in uses.values()):
        return []
    lines = ["### Weighted by use", "", "| flow | uses | passed |", "|---|--:|--:|"]
    for flow in sorted({row.flow for row in table_rows}):
        own = [row for row in table_rows if row.flow == flow]
        total = sum(uses[id(row)] for row in own)
        passed = sum(uses[id(row)] for row in own if all(entry.word == "pass" for entry in row.entries))
        lines.append(f"| {escaped(flow, 120)} | {total} | {100 * passed / total:.1f} % |")
    return [*lines, ""]


def _outcomes(table_rows: Sequence[Row]) -> list[str]:
    counted = Counter(
        (row.flow, entry.result.outcome.value, entry.result.stage.value)
        for row in table_rows
        for entry in row.entries
        if entry.result is not None and entry.word != "pass"
    )
    if not counted:
        return []
    lines = ["### What the others are", "", "| flow | outcome | stage | cases |", "|---|---|---|--:|"]
    lines += [f"| {escaped(f)} | {o} | {s} | {count} |" for (f, o, s), count in sorted(counted.items())]
    return [*lines, ""]


def _failing(run: Run, table_rows: Sequence[Row]) -> list[str]:
    bad = [entry for row in table_rows for entry in row.entries if entry.word not in ("pass", "xfail", "skip")]
    bad.sort(key=lambda entry: SEVERITY.index(entry.word))
    lines = ["### Failing cases", ""] if bad else []
    for entry in bad[:FAILURES_SHOWN]:
        case, flow = entry.names
        lines += [
            f"- **{entry.word or 'not run'}** {escaped(case, 160)} · {escaped(flow, 120)}: {escaped(entry.reason, 300)}"
        ]
        if entry.result is not None and entry.result.log_file:
            lines += ["", f"  Log: {as_code(entry.result.log_file)}"]
        lines += ["", f"      {one_line(repro_line(run, entry.asked))}", ""]
    if len(bad) > FAILURES_SHOWN:
        lines += [f"{len(bad) - FAILURES_SHOWN} more are in the other reports.", ""]
    return lines
