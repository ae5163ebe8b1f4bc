"""Below the table on the screen: what quantization cost where everything else is right, and the files of `--trace`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core.note import NoteCode
from assay.core.policy import Goal
from assay.core.result_parts import traces_of
from assay.core.verdict import VerdictStatus
from assay.judge.goal_rules import limits_loss
from assay.judge.outcome_rule import large_loss
from assay.judge.words.note_text import note_text
from assay.reports.console_text import print_line, print_prose
from assay.reports.rows import Row
from assay.reports.sanitize import one_line

if TYPE_CHECKING:
    from rich.console import Console

LOSSES_SHOWN = 3


def print_losses(console: Console, rows: Sequence[Row], goals: Sequence[Goal]) -> None:
    """A pass on a flow that quantizes says that the engine is right; the table has no word of what the quantized model itself lost.
    Where a goal limits that loss, the user has seen it."""
    lossy = [
        (entry, text)
        for row in rows
        if not any(limits_loss(goal, row.case, row.flow) for goal in goals)
        for entry in row.entries
        if entry.word == VerdictStatus.PASS.value and (text := large_loss(entry.result))
    ]
    for entry, text in lossy[:LOSSES_SHOWN]:
        names = " | ".join(map(one_line, (*entry.names, entry.kind)))
        console.print()
        print_prose(console, f"warning: {names}: the engine answers as its model does, which is {one_line(text)}")
    if len(lossy) > LOSSES_SHOWN:
        print_prose(console, f"  and {len(lossy) - LOSSES_SHOWN} more: --report html=FILE shows all")


WHY_NONE = (NoteCode.NO_PROFILE, NoteCode.NO_TRACE, NoteCode.TRACE_FAILED)


def print_traces(console: Console, rows: Sequence[Row]) -> None:
    """Each file on a line of its own: it is there to be opened."""
    results = [(row.flow, entry.result) for row in rows for entry in row.entries if entry.result]
    kept = [path for _, result in results for path in traces_of(result)]
    none = dict.fromkeys(
        f"{flow}: {note_text(note)}" for flow, result in results for note in result.notes if note.code in WHY_NONE
    )
    if kept:
        print_prose(console, "\nTraces (open those in .json with ui.perfetto.dev):")
    elif none:
        print_prose(console, "\nTraces:")
    for path in kept:
        print_line(console, f"  {one_line(path)}")
    for reason in none:
        print_prose(console, f"  {one_line(reason)}")
