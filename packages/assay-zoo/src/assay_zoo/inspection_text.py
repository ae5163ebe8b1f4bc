"""An inspection on the screen: group by group, each check with its mark, then the decision with every reason."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.reports.sanitize import one_line
from assay_zoo.check import GROUPS, Check, CheckOutcome
from assay_zoo.decision import Answer

if TYPE_CHECKING:
    from rich.console import Console

    from assay_zoo.inspect import Inspection

# Words, not signs: a log file and a screen reader have no colours.
_MARKS = {
    CheckOutcome.PASSED: ("ok", "green"),
    CheckOutcome.FAILED: ("FAIL", "bold red"),
    CheckOutcome.WAIVED: ("waived", "cyan"),
    CheckOutcome.SKIPPED: ("-", "dim"),
    CheckOutcome.UNDECIDED: ("ask", "yellow"),
    CheckOutcome.INFRASTRUCTURE: ("machine", "magenta"),
}
_ANSWERS = {
    Answer.PROMOTE: "bold green",
    Answer.DECLINE: "bold red",
    Answer.PERSON: "bold yellow",
    Answer.RETRY: "bold magenta",
}
EXIT_CODES = {Answer.PROMOTE: 0, Answer.DECLINE: 1, Answer.PERSON: 3, Answer.RETRY: 4}
NOTHING_EXECUTED = 5
_MEANING = {
    0: "promote",
    1: "decline",
    3: "a person decides",
    4: "the machine failed, nobody is to blame: look again",
    5: "nothing was executed",
}
_WIDE = 130
"""From here on the place at fault stands beside the sentence, below it where the screen is narrower."""
_GAP = 2


def exit_code(inspection: Inspection) -> int:
    """0 promote, 1 decline, 3 a person, 4 the machine failed, 5 nothing was executed."""
    answer = inspection.decision.answer
    if answer is Answer.PERSON and not any(check.executed for check in inspection.checks):
        return NOTHING_EXECUTED
    return EXIT_CODES[answer]


def inspection_text(inspection: Inspection, *, folder: str, width: int, colour: bool = False) -> str:
    """The whole, in `width` columns; `folder` is the submission as the user called it, for paths that can be clicked."""
    console = _console(width, colour)
    _head(console, inspection)
    for group in GROUPS:
        checks = [check for check in inspection.checks if check.group == group]
        if checks:
            _group(console, group, checks, folder)
    decision_lines(console, inspection, shown=inspection.checks)
    written = console.file
    assert isinstance(written, io.StringIO)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def _console(width: int, colour: bool) -> Console:
    from rich.console import Console

    return Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip


def _head(console: Console, inspection: Inspection) -> None:
    from rich.text import Text

    name = one_line(f"{inspection.name} {inspection.version}").strip()
    console.print(Text.assemble((name, "bold"), (f"  sha256 {inspection.digest[:16]}", "dim")))


def _group(console: Console, group: str, checks: Sequence[Check], folder: str) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print()
    console.print(Text.assemble((group, "bold"), (f"  {_summary(checks)}", "dim")))
    wide = console.width >= _WIDE
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(min_width=7, no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    if wide:
        table.add_column(no_wrap=True)
    for check in checks:
        mark, style = _MARKS[check.outcome]
        place = _place(check, folder) if check.outcome is not CheckOutcome.PASSED else ""
        sentence = Text(one_line(check.sentence), style="dim" if check.outcome is CheckOutcome.SKIPPED else "")
        if place and not wide:
            sentence.append(f"\n{place}", style="dim")
        cells = [Text(f"  {mark}", style=style), Text(check.name.partition(".")[2]), sentence]
        table.add_row(*cells, *([Text(place, style="dim")] if wide else []))
    console.print(table)


def _summary(checks: Sequence[Check]) -> str:
    counts = {outcome: sum(check.outcome is outcome for check in checks) for outcome in CheckOutcome}
    parts = [f"{count} {outcome.value}" for outcome, count in counts.items() if count]
    cases = sum(check.executed for check in checks)
    seconds = sum(check.seconds for check in checks)
    return ", ".join(parts) + (f"; {cases} executed" if cases else "") + (f", {seconds:.1f} s" if seconds else "")


def _place(check: Check, folder: str) -> str:
    if not check.path:
        return ""
    line = f":{check.line}" if check.line else ""
    return one_line(f"{folder}/{check.path}{line}")


def decision_lines(console: Console, inspection: Inspection, shown: Sequence[Check] = ()) -> None:
    """The answer, each reason on a line of its own, and what it means to the shell: last, where people look. Of checks that were
    `shown` above only the names."""
    from rich.padding import Padding
    from rich.text import Text

    answer = inspection.decision.answer
    console.print()
    console.print(Text(answer.value, style=_ANSWERS[answer]))
    above = {f"{check.name}: {check.sentence}": check.name for check in shown}
    reasons = [reason for reason in inspection.decision.reasons if reason not in above]
    if names := Counter(above[reason] for reason in inspection.decision.reasons if reason in above):
        reasons = [", ".join(f"{name} ({count})" if count > 1 else name for name, count in names.items()), *reasons]
    for reason in reasons:
        console.print(Padding(Text(one_line(reason), overflow="fold"), (0, 0, 0, 2)))
    code = exit_code(inspection)
    console.print(Text(f"exit {code} = {_MEANING[code]}", style="dim"))


def decision_text(inspection: Inspection, *, width: int, colour: bool = False) -> str:
    """Head and decision only."""
    console = _console(width, colour)
    _head(console, inspection)
    decision_lines(console, inspection)
    written = console.file
    assert isinstance(written, io.StringIO)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"
