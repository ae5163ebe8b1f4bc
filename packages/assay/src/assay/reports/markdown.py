"""Markdown for a CI job summary or a comment: the verdict, the table, what failed and how to repeat it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.core.changes import RunChanges
from assay.core.result import Result
from assay.core.result_parts import speeds_of
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.options.repro import repro_line
from assay.reports import format as text
from assay.reports.batch_sweep import KNEE_MEANS, sweep
from assay.reports.change_order import gravest_first
from assay.reports.changes import HEADER as CHANGES_HEADER
from assay.reports.changes import TITLE as CHANGES
from assay.reports.changes import Line, commits_between, facts_between
from assay.reports.columns import Column, columns_of
from assay.reports.critical import TITLE, critical
from assay.reports.mutation_scores import GROUPS, mutation_scores, table
from assay.reports.recorded_jobs import recorded
from assay.reports.rows import (
    EXIT_MEANING,
    SEVERITY,
    Row,
    counts,
    group_identical,
    headline,
    rows,
    run_verdicts,
    skipped_note,
)
from assay.reports.sanitize import one_line

ROWS_SHOWN = 200
FAILURES_SHOWN = 50
TEXT_LIMIT = 600
"""Together well under the 1 MiB that GitHub allows for a job summary."""

QUIET = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value)
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK = re.compile(r"^(\d*)([-#+=.):])")


class Markdown:
    """GitHub's dialect; every name and message is escaped, so that none can end a table, a link or a code block."""

    name = "markdown"
    suffix = ".md"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """At most `ROWS_SHOWN` rows and `FAILURES_SHOWN` failures, the gravest; what is left out is counted."""
        table_rows = rows(run, results, judgement)
        meaning = EXIT_MEANING.get(judgement.exit_code, "unknown")
        word, reason = headline(judgement)
        note = skipped_note(judgement)
        lines = [f"## Assay: {word}{f', {note}' if note else ''}", "", escaped(reason), ""]
        lines += [f"Exit {judgement.exit_code} = {meaning}."]
        lines += [f"- **{v.word.value}**: {escaped(v.reason)}" for v in run_verdicts(run, results, judgement)]
        lines += [
            "",
            *_table(table_rows),
            *_mutation_scores(results),
            *_changes(judgement.changes),
            *critical_lines(table_rows, judgement.changes),
            *_speed_comparisons(table_rows),
            *_failures(run, table_rows),
            *_about(run, recorded(run, results)),
        ]
        return "\n".join(lines) + "\n"


def escaped(value: str, limit: int = TEXT_LIMIT) -> str:
    """One line of literal text: Markdown, HTML and mentions are inert in it."""
    line = one_line(value)
    line = line if len(line) <= limit else f"{line[: limit - 3]}..."
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return _BLOCK.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))


def as_code(path: str) -> str:
    """A path to be copied: nothing in it is markup."""
    return f"`{one_line(path).replace('`', '?')}`"


def _table(table_rows: Sequence[Row]) -> list[str]:
    if not table_rows:
        return ["No job was planned and no result was recorded.", ""]
    shown = table_rows
    if len(table_rows) > ROWS_SHOWN:
        shown = sorted(table_rows, key=lambda row: SEVERITY.index(row.word))[:ROWS_SHOWN]
    # A text that no row has is left out; metrics keep their places.
    columns = [column for column in columns_of("markdown") if column.value is not None or any(map(column.shown, shown))]
    lines = [
        ", ".join(f"{count} {word or 'not run'}" for word, count in counts(table_rows).items()),
        "",
        f"| verdict | case | flow | {' | '.join(column.title.lower() for column in columns)} |",
        f"|---|---|---|{''.join('--:|' if column.value is not None else '---|' for column in columns)}",
    ]
    lines += [f"| {' | '.join(_cells(row, columns))} |" for row in shown]
    if len(shown) < len(table_rows):
        lines += ["", f"{len(table_rows) - len(shown)} more rows are not shown; none is worse than these."]
    return [*lines, ""]


def _mutation_scores(results: Sequence[Result]) -> list[str]:
    """A table for each group; nothing where no mutants were injected."""
    lines: list[str] = []
    for group in GROUPS:
        header, rows, closing = table(mutation_scores(results), group)
        if rows:
            lines += [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
            lines += [f"| {' | '.join(escaped(cell, 120) for cell in row)} |" for row in rows[:ROWS_SHOWN]]
            lines.append("")
        lines += [closing, ""] if closing else []
    return lines


def _cells(row: Row, columns: Sequence[Column]) -> list[str]:
    word = row.word or "not run"
    shown = [column.shown(row) if column.value is not None else escaped(column.shown(row), 120) for column in columns]
    return [word if row.word in QUIET else f"**{word}**", escaped(row.case, 120), escaped(row.flow, 120), *shown]


def _failures(run: Run, table_rows: Sequence[Row]) -> list[str]:
    bad = [together for row in table_rows for together in group_identical(row) if together[0].word not in QUIET]
    bad.sort(key=lambda together: SEVERITY.index(together[0].word))
    lines = ["### What needs a look", ""] if bad else []
    for together in bad[:FAILURES_SHOWN]:
        entry = together[0]
        case, flow = entry.names
        kinds = ", ".join(member.kind for member in together)
        names = f"{escaped(case, 120)} · {escaped(flow, 120)} · {kinds}"
        lines += [f"**{entry.word or 'not run'}** {names}  ", escaped(entry.reason), ""]
        if entry.result is not None and entry.result.outcome.value == "unavailable":
            lines += [escaped(entry.result.detail), ""]
        if entry.result is not None and entry.result.log_file:
            lines += [f"Log: {as_code(entry.result.log_file)}", ""]
        lines += [*_code(repro_line(run, entry.asked)), ""]
    if len(bad) > FAILURES_SHOWN:
        lines += [f"{len(bad) - FAILURES_SHOWN} more are in the other reports.", ""]
    return lines


def _changes(changes: RunChanges | None) -> list[str]:
    if changes is None:
        return []
    lines = [f"### {CHANGES}", "", *(f"- {name}: {escaped(value)}" for name, value in facts_between(changes))]
    lines += [f"- {escaped(commits)}"] if (commits := commits_between(changes)) else []
    ordered = gravest_first(changes)
    for cell in ordered.cells[:FAILURES_SHOWN]:
        lines += ["", f"**{escaped(cell.case, 120)} · {escaped(cell.flow, 120)}** {cell.verdicts}", ""]
        lines += [f"- {escaped(note)}" for note in cell.notes]
        if cell.lines:
            lines += ["", f"| {' | '.join(CHANGES_HEADER)} |", "|---|--:|--:|--:|---|", *map(_changed, cell.lines)]
    lines += ["", f"- {rest}"] if (rest := ordered.rest(FAILURES_SHOWN)) else []
    return [*lines, ""]


def _changed(line: Line) -> str:
    mark = "**" if line.worse > 0 else ""
    return f"| {escaped(line.label)} | {line.before} | {line.after} | {mark}{line.change}{mark} | {line.spark} |"


def critical_lines(table_rows: Sequence[Row], changes: RunChanges | None) -> list[str]:
    """A list under its title, nothing where there are none; at most `FAILURES_SHOWN`, the rest counted."""
    warnings = critical(table_rows, changes)
    names = [
        (escaped(warning.case, 120), escaped(warning.flow, 120), escaped(warning.text))
        for warning in warnings[:FAILURES_SHOWN]
    ]
    lines = [f"### {TITLE}", ""] if warnings else []
    lines += [f"- {case} · {flow}: {text}" for case, flow, text in names]
    if len(warnings) > FAILURES_SHOWN:
        lines += [f"- {len(warnings) - FAILURES_SHOWN} more are in the other reports."]
    return [*lines, ""] if warnings else []


def _speed_comparisons(table_rows: Sequence[Row]) -> list[str]:
    """What a comparison found is an answer even where nothing is wrong; and a table where there were several batch sizes."""
    lines: list[str] = []
    for row in table_rows:
        for entry in row.entries:
            if entry.result is None or not speeds_of(entry.result):
                continue
            names = f"{escaped(row.case, 120)} · {escaped(row.flow, 120)}"
            lines += [f"{names}: {escaped(entry.reason)}", ""] if entry.word in QUIET else []
            header, rows_ = sweep(entry.result)
            if rows_:
                lines += [f"Batch sizes of {names}; {KNEE_MEANS}:", "", f"| {' | '.join(header)} |"]
                lines += [f"|{'--:|' * len(header)}", *(f"| {' | '.join(cells)} |" for cells in rows_), ""]
    return lines


def _code(line: str) -> list[str]:
    """A fence longer than any run of back-ticks inside."""
    line = one_line(line)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", line, fence]


def _about(run: Run, jobs: str) -> list[str]:
    machine = run.machine
    parts = [f"run {run.id}", jobs]
    parts += [f"commit {run.commit}"] if run.commit else []
    parts += [text.model_source(source) for source in run.sources]
    parts += [f"{machine.cpu}, {text.cores(machine.cores)}, {text.size(machine.memory_bytes)}"] if machine.cpu else []
    parts += [f"{name} {version}" for name, version in sorted(run.versions.items())]
    return ["<sub>" + escaped("; ".join(parts), 2000) + "</sub>"]
