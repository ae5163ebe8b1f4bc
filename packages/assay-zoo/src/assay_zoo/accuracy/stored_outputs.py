"""`accuracy.outputs`: what a notebook shows to its readers is what its cells give when they are executed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_zoo.accuracy.notebook_report import Report
from assay_zoo.check import Check, CheckOutcome

NAME = "accuracy.outputs"
CLOSE = 0.01
"""Share by which a number may differ on another machine."""
NOTHING = 1e-5
"""Below it a number is rounding, and may be another one."""
_TOKEN = re.compile(r"0x[0-9a-fA-F]+|[-+]?\d+(?:\.\d+){2,}|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[^\W\d]+|[^\w\s]")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_OF_THIS_RUN = re.compile(
    r"\b(?:it/s|s/it|fps|loops?|time|took|elapsed|wall|latency|speed|date|version)\b|\b\d{1,2}:\d{2}\b", re.IGNORECASE
)
"""A line with one of these tells of the machine and the day: its numbers may be others."""
_UNITS = "ns us µs ms s sec secs second seconds minutes kb mb gb kib mib gib bytes"
"""Behind a number that may be another one."""
_SHOWN = 120


def outputs_check(reports: dict[str, Report]) -> Check:
    """Of the notebooks that ran to their end, by path."""
    kept = [(path, cell) for path, report in reports.items() for cell in report.printed if cell.stored.strip()]
    if not kept:
        return Check(NAME, CheckOutcome.SKIPPED, "no notebook has a stored output")
    wrong = []
    for path, cell in kept:
        if pair := difference(cell.stored, cell.text):
            there, here = (text[:_SHOWN] for text in pair)
            wrong.append(
                (path, cell.line, f"cell {cell.cell} of {path} shows {there!r}, and gives {here!r} when it is executed")
            )
    if wrong:
        more = f"; and {len(wrong) - 1} more cells" if len(wrong) > 1 else ""
        path, line, sentence = wrong[0]
        sentence = f"{sentence}{more}: execute the notebook and store what it gives"
        return Check(NAME, CheckOutcome.FAILED, sentence, path, line, executed=len(kept))
    sentence = f"the stored outputs of {len(kept)} cells are those of the execution"
    return Check(NAME, CheckOutcome.PASSED, sentence, executed=len(kept))


def difference(stored: str, printed: str) -> tuple[str, str] | None:
    """The first line in which they differ, as both have it; None where they agree."""
    ours, theirs = (list(_lines(text)) for text in (stored, printed))
    for at in range(max(len(ours), len(theirs))):
        ours_line = ours[at] if at < len(ours) else ""
        other = theirs[at] if at < len(theirs) else ""
        if not _same(ours_line, other):
            return ours_line, other
    return None


def _lines(text: str) -> Iterator[str]:
    return (" ".join(line.split()) for line in text.splitlines() if line.strip())


def _same(left: str, other: str) -> bool:
    ours, theirs = _TOKEN.findall(left), _TOKEN.findall(other)
    line = bool(_OF_THIS_RUN.search(left))
    behind = [unit.lower() in _UNITS.split() for unit in (*ours[1:], "")]
    return len(ours) == len(theirs) and all(
        _alike(a, b, line or unit) for a, b, unit in zip(ours, theirs, behind, strict=True)
    )


def _alike(left: str, other: str, free: bool) -> bool:
    if left == other or (left.startswith("0x") and other.startswith("0x")):
        return True
    if not (_NUMBER.fullmatch(left) and _NUMBER.fullmatch(other)):
        return free and left[:1].isdigit() and other[:1].isdigit()
    a, b = float(left), float(other)
    return free or abs(a - b) <= max(CLOSE * max(abs(a), abs(b)), NOTHING)
