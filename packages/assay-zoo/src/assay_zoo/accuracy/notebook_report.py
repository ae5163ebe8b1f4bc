"""What the execution of a notebook leaves: written inside the sandbox, read outside, and never believed blindly."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

REPORT = "report.json"
METRIC = "metric.json"
METRIC_BYTES = 1024 * 1024
_REPORT_BYTES = 64 * 1024 * 1024


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is exception, dead, protocol, empty, start, or running: the cell that was being executed. `cell` counts cells of code
    from 1, 0 for none; `line` is where it begins in the notebook's file."""

    kind: str
    cell: int = 0
    line: int = 0
    sentence: str = ""


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """What one cell of code printed and showed, as text; `stored` is what the file says that it did."""

    cell: int
    line: int
    text: str
    stored: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Cells that were executed, in their order; `trouble` None where all of them were. `written` are files of code that are no longer
    as they were handed in, or are new."""

    printed: tuple[Printed, ...] = ()
    trouble: Trouble | None = None
    written: tuple[str, ...] = ()


def read_report(folder: Path) -> Report | None:
    """None where there is none that can be read: the code inside may have written anything there."""
    data = bounded(folder / REPORT, _REPORT_BYTES)
    try:
        return msgspec.json.decode(data, type=Report) if data is not None else None
    except (msgspec.DecodeError, RecursionError):
        return None


def bounded(path: Path, most_bytes: int) -> bytes | None:
    """The contents of a regular file, None where there is none or it is too long. Follows no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        data = file.read(most_bytes + 1)
    return data if len(data) <= most_bytes else None


class CellLines:
    """Where the lines of cells stand in the file of a notebook, cells in their order."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._next = 0

    def of(self, line: str) -> int:
        """From 1; the last one found where the line is written in a way that cannot be found again."""
        needles = [json.dumps(line, ensure_ascii=plain)[1:-1] for plain in (False, True)]
        if line.strip():
            for number in range(self._next, len(self._lines)):
                if any(needle in self._lines[number] for needle in needles):
                    self._next = number
                    break
        return min(self._next + 1, max(len(self._lines), 1))
