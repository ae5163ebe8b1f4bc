"""The files of `--trace`, on the screen, and for each flow without any the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core.note import NoteCode
from assay.core.result_parts import traces_of
from assay.judge.note_text import note_text
from assay.reports.console_text import print_line, print_prose
from assay.reports.rows import Row
from assay.reports.sanitize import one_line

if TYPE_CHECKING:
    from rich.console import Console

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
