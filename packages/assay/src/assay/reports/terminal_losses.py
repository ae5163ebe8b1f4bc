"""What quantization cost where everything else is right, on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.core.policy import Goal
from assay.core.verdict import VerdictStatus
from assay.judge.goal_rules import limits_loss
from assay.judge.outcome_rule import large_loss
from assay.reports.console_text import print_prose
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
