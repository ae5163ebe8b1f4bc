"""The report for the screen: a table of case × flow, and below it what went wrong and how to repeat it."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from assay.core.input_plan import InputFacts
from assay.core.repeats import ENOUGH_CALLS
from assay.core.result import (
    ChangeResult,
    PerNodeResult,
    Result,
    VerifyResult,
)
from assay.core.result_parts import (
    facts_of,
    inputs_of,
    speeds_of,
)
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.judge.words.repeats_text import asked_again
from assay.judge.words.warnings_text import notes_of, warnings_of
from assay.options.repro import repro_line
from assay.reports.batch_sweep import KNEE_MEANS, OPERATORS, columns, latencies, operators, sweep
from assay.reports.change_order import gravest_first
from assay.reports.changes import HEADER as CHANGES_HEADER
from assay.reports.changes import TITLE as CHANGES
from assay.reports.changes import commits_between, facts_between
from assay.reports.console_text import print_line, print_plain, print_prose
from assay.reports.critical import TITLE, critical
from assay.reports.details import detail_lines
from assay.reports.format import model_source
from assay.reports.mutation_scores import mutation_scores, shown
from assay.reports.node_errors import node_tables
from assay.reports.recorded_jobs import recorded
from assay.reports.rows import EXIT_MEANING, SEVERITY, Entry, Row, counts, group_identical, headline, rows, run_verdicts
from assay.reports.sanitize import one_line
from assay.reports.terminal_remarks import print_losses, print_traces
from assay.reports.terminal_table import STYLES, print_table
from assay.reports.upgrades import HEADER as UPGRADE
from assay.reports.upgrades import upgrades
from assay.reports.used_inputs import built_for, used_inputs

if TYPE_CHECKING:
    from rich.console import Console

QUIET = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value)
FAILURES_SHOWN = 40
CRITICAL_SHOWN = 20
CELLS_SHOWN = 12
INPUTS_SHOWN = 6
SWEEP_SHOWN = 3
"""Batch sizes of a measurement from which on they are a sweep; of a comparison, two are."""


class Terminal:
    """Plain text without any escape code unless `colour`; `width` None is the width of the terminal. `wrapped`: sentences are
    broken between words, for a screen; else each is one line, for whatever reads lines. `details`: every output with its values
    and errors."""

    name = "terminal"
    suffix = ".txt"

    def __init__(
        self, width: int | None = None, colour: bool = False, wrapped: bool = False, details: bool = False
    ) -> None:
        self._details = details
        self._width = width
        self._colour = colour
        self._wrapped = wrapped

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Table, failures, and the verdict last, where a person who waited is looking."""
        console = self._console()
        table_rows = rows(run, results, judgement)
        print_table(console, table_rows)
        bad = sorted((row for row in table_rows if row.word not in QUIET), key=lambda row: SEVERITY.index(row.word))
        groups = [together for row in bad[:FAILURES_SHOWN] for together in group_identical(row)]
        failures = [together for together in groups if together[0].word not in QUIET]
        for together in failures:
            _failure(console, run, together)
        print_losses(console, table_rows, run.policy.goals)
        _remarks(console, table_rows, {warning for together in failures for warning in _shown_warnings(together[0])})
        _asked_rarely(console, table_rows)
        _critical(console, table_rows, judgement)
        print_traces(console, table_rows)
        _speed_comparisons(console, table_rows)
        _changes(console, judgement)
        for upgrade in upgrades(table_rows):
            console.print(f"\n{one_line(upgrade.case)} | {one_line(upgrade.flow)}: old beside new", style="bold")
            print_plain(console, columns(UPGRADE, [list(line) for line in upgrade.lines]))
        if self._details:
            for line in detail_lines(table_rows):
                print_line(console, line)
        for line in shown(mutation_scores(results)):
            print_prose(console, line)
        for source in run.sources:
            print_line(console, one_line(model_source(source)))
        _end(console, run, table_rows, judgement, recorded(run, results))
        written = console.file
        assert isinstance(written, io.StringIO)
        return "\n".join(line.rstrip() for line in written.getvalue().splitlines()).strip("\n") + "\n"

    def _console(self) -> Console:
        from rich.console import Console

        return Console(
            file=io.StringIO(),
            width=self._width or shutil.get_terminal_size((100, 24)).columns,
            force_terminal=self._colour,
            color_system="standard" if self._colour else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            soft_wrap=not self._wrapped,
        )


def _failure(console: Console, run: Run, together: Sequence[Entry]) -> None:
    from rich.text import Text

    entry = together[0]
    kinds = ", ".join(member.kind for member in together)
    names = " | ".join(one_line(part) for part in (*entry.names, kinds))
    console.print()
    console.print(Text.assemble((entry.word or "not run", STYLES[entry.word]), "  ", (names, "bold")))
    print_prose(console, f"  {one_line(entry.reason)}")
    result = entry.result
    if result is not None:
        detail = one_line(result.detail)
        if detail and detail.rstrip(".") not in one_line(entry.reason):
            print_prose(console, f"  {detail}")
        if result.node:
            print_prose(console, f"  node: {one_line(result.node)}")
        if fed := inputs_of(result):
            shown_inputs = "; ".join(map(one_line, map(used_inputs, fed[:INPUTS_SHOWN])))
            print_prose(console, f"  inputs: {shown_inputs}{_more(fed)}")
        if sizes := built_for(facts_of(result)):
            print_prose(console, f"  {one_line(sizes)}")
        for warning in _shown_warnings(entry):
            print_prose(console, f"  warning: {one_line(warning)}")
        for member in together:
            if member.result is not None:
                _tables(console, member.result)
        if result.log_file:
            print_line(console, f"  log: {one_line(result.log_file)}")
    # One line whatever the width: it is there to be copied.
    print_line(console, (f"  {one_line(repro_line(run, entry.asked))}", "dim"))


def _shown_warnings(entry: Entry) -> tuple[str, ...]:
    return warnings_of(entry.result)[:3] if entry.result is not None else ()


def _more(inputs: Sequence[InputFacts]) -> str:
    left = len(inputs) - INPUTS_SHOWN
    return f"; and {left} more" if left > 0 else ""


def _remarks(console: Console, table_rows: Sequence[Row], printed: AbstractSet[str]) -> None:
    """A pass may rest on less than it seems (another oracle, a branch that was never run): that is told, once. `printed` was told with
    what failed."""
    remarked = [
        (entry, left[0])
        for row in table_rows
        for entry in row.entries
        if entry.word == VerdictStatus.PASS.value and entry.result is not None
        if (left := [note for note in notes_of(entry.result) if note not in printed])
    ]
    if remarked:
        entry, warning = remarked[0]
        more = f" ({len(remarked)} passes have warnings: --report html=FILE shows all)" if len(remarked) > 1 else ""
        names = " | ".join(map(one_line, (*entry.names, entry.kind)))
        console.print()
        print_prose(console, f"warning: {names}: {one_line(warning)}{more}")


def _critical(console: Console, table_rows: Sequence[Row], judgement: RunVerdict) -> None:
    warnings = critical(table_rows, judgement.changes)
    if warnings:
        console.print(f"\n{TITLE}", style="bold")
    for warning in warnings[:CRITICAL_SHOWN]:
        print_prose(console, f"  {warning.case} | {warning.flow}: {warning.text}")
    if len(warnings) > CRITICAL_SHOWN:
        print_prose(console, f"  and {len(warnings) - CRITICAL_SHOWN} more: --report html=FILE shows all")


def _changes(console: Console, judgement: RunVerdict) -> None:
    """Against the baseline, or against another run: what moved by more than a percent, and what is new or gone."""
    if judgement.changes is None:
        return
    console.print(f"\n{CHANGES}", style="bold")
    print_plain(console, [f"{name}: {value}" for name, value in facts_between(judgement.changes)])
    if commits := commits_between(judgement.changes):
        print_plain(console, [commits])
    ordered = gravest_first(judgement.changes)
    for cell in ordered.cells[:CELLS_SHOWN]:
        console.print()
        print_line(console, (f"  {cell.case} | {cell.flow}", "bold"), f"  {cell.verdicts}")
        for note in cell.notes:
            print_prose(console, f"    {note}")
        lines = [[line.label, line.before, line.after, line.change, line.spark] for line in cell.lines]
        if lines:
            print_plain(console, [f"  {line}" for line in columns(CHANGES_HEADER, lines)])
    if rest := ordered.rest(CELLS_SHOWN):
        print_prose(console, f"  and {rest}: --report html=FILE shows all")


def _asked_rarely(console: Console, table_rows: Sequence[Row]) -> None:
    """Passes of engines that were asked again less often than one bad call in 50 needs: by the one with the fewest calls."""
    rarely_asked = [
        (entry.result.repeats.calls, entry)
        for row in table_rows
        for entry in row.entries
        if entry.word == VerdictStatus.PASS.value and isinstance(entry.result, VerifyResult)
        if 0 < entry.result.repeats.calls < ENOUGH_CALLS
    ]
    if not rarely_asked:
        return
    _, entry = min(rarely_asked, key=lambda pair: pair[0])
    assert isinstance(entry.result, VerifyResult)
    more = f" ({len(rarely_asked)} passes were asked less than {ENOUGH_CALLS} times)" if len(rarely_asked) > 1 else ""
    names = " | ".join(map(one_line, (*entry.names, entry.kind)))
    console.print()
    print_prose(console, f"not seen: {names}: {asked_again(entry.result.repeats)}{more}")


def _speed_comparisons(console: Console, table_rows: Sequence[Row]) -> None:
    """What a comparison of two engines or models found is an answer even where nothing is wrong; so is a pass by a stated limit."""
    for row in table_rows:
        for entry in row.entries:
            result = entry.result
            answers = result is not None and (bool(speeds_of(result)) or isinstance(result, ChangeResult))
            is_answer = answers or any(verdict.by_stated_limit for verdict in entry.verdicts)
            if entry.word in QUIET and result is not None and (is_answer or _has_tables(result)):
                console.print(f"\n{one_line(row.case)} | {one_line(row.flow)}", style="bold")
                if is_answer:
                    print_prose(console, f"  {one_line(entry.reason)}")
                _tables(console, result)


def _has_tables(result: Result) -> bool:
    nodes = isinstance(result, PerNodeResult) and result.node_errors
    return bool(speeds_of(result) or nodes or len(latencies(result)) >= SWEEP_SHOWN)


def _tables(console: Console, result: Result) -> None:
    """A sweep over batch sizes, and where a slower engine loses its time."""
    header, lines = sweep(result)
    if len(lines) >= (2 if speeds_of(result) else SWEEP_SHOWN):
        print_plain(console, columns(header, lines))
        if any(line[-1] for line in lines):
            print_plain(console, [KNEE_MEANS])
    if operator_lines := operators(result):
        print_plain(console, columns(OPERATORS, operator_lines))
    for title, head, lines in node_tables(result, names=console.width // 3):
        print_plain(console, ["", title, *columns(head, lines)])


def _end(console: Console, run: Run, table_rows: Sequence[Row], judgement: RunVerdict, jobs: str) -> None:
    bad = sum(1 for row in table_rows if row.word not in QUIET)
    if bad > FAILURES_SHOWN:
        console.print(f"\n{bad - FAILURES_SHOWN} more are in the other reports.", style="dim")
    console.print()
    for verdict in run_verdicts(run, results_of(table_rows), judgement):
        print_prose(console, f"{verdict.word.value}: {one_line(verdict.reason)}")
    parts = [f"{count} {word or 'not run'}" for word, count in counts(table_rows).items()]
    if parts:
        print_prose(console, f"{', '.join(parts)}; {jobs}; run {one_line(run.id)}")
    word, reason = headline(judgement)
    if bad <= 1 and judgement.summary is not None:
        reason = judgement.summary.counts  # the first stands right above
    print_prose(console, f"  {one_line(reason)}", word, STYLES[judgement.run.word.value])
    console.print(f"exit {judgement.exit_code} = {EXIT_MEANING.get(judgement.exit_code, 'unknown')}", style="dim")


def results_of(table_rows: Sequence[Row]) -> list[Result]:
    """The results that these rows were made of."""
    return [entry.result for row in table_rows for entry in row.entries if entry.result is not None]
