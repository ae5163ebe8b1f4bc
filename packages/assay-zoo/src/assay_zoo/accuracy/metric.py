"""Where a notebook reports its metric, and what stands there."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from assay_zoo.accuracy.notebook_report import METRIC, METRIC_BYTES, Printed, Report, bounded

_NUMBER = r"[-+]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf|infinity)"
_OF_NUMPY = re.compile(r"np\.float\d+\((.*)\)")
"""As `print(f"{value = }")` shows it."""
_SHOWN = 80


@dataclass(frozen=True)
class Found:
    """The metric, and the line of the notebook whose cell told it; or why there is none."""

    value: float | None = None
    sentence: str = ""
    line: int = 0


def file_wanted(read: str) -> str:
    """The file that `file:PATH#KEY` names, "" for another form or a path that leaves the submission."""
    kind, _, rest = read.partition(":")
    path = PurePosixPath(rest.partition("#")[0])
    inside = not path.is_absolute() and ".." not in path.parts and path.parts
    return str(path) if kind == "file" and inside else ""


def unreadable_place(read: str) -> str:
    """Why `read` names no place where a metric could stand, "" where it does."""
    kind, _, rest = read.partition(":")
    if (kind == "output" and rest) or (kind == "file" and file_wanted(read)):
        return ""
    return f"read = {read!r} names no place: write output:NAME for a printed line, or file:PATH#KEY for a JSON file of the submission"


def read_metric(read: str, report: Report, output: Path) -> Found:
    """By `Claim.read`. `output` is what the sandbox left."""
    if problem := unreadable_place(read):
        return Found(sentence=problem)
    kind, _, rest = read.partition(":")
    if kind == "output":
        return _printed(rest, report.printed)
    path, _, key = rest.partition("#")
    return _in_file(path, key, output)


def _printed(name: str, cells: tuple[Printed, ...]) -> Found:
    """The line `NAME = 0.97`, which may stand in several cells only with one value."""
    line = re.compile(rf"^\s*{re.escape(name)}\s*[=:]\s*(\S+)\s*$", re.MULTILINE)
    printed = [(cell, _OF_NUMPY.sub(r"\1", text)) for cell in cells for text in line.findall(cell.text)]
    for cell, text in printed:
        if not re.fullmatch(_NUMBER, text, re.IGNORECASE):
            return Found(
                sentence=f"cell {cell.cell} prints {name} = {text[:_SHOWN]!r}, which is no number", line=cell.line
            )
    values = {float(text) for _, text in printed}
    if not printed:
        return Found(sentence=f"no cell printed a line '{name} = NUMBER' while it was executed")
    if len(values) > 1:
        each = ", ".join(f"{text} in cell {cell.cell}" for cell, text in printed[:4])
        return Found(sentence=f"{name} is printed with different values: {each}", line=printed[-1][0].line)
    return Found(value=values.pop(), line=printed[-1][0].line)


def _in_file(path: str, key: str, output: Path) -> Found:
    data = bounded(output / METRIC, METRIC_BYTES)
    if data is None:
        return Found(sentence=f"the notebook wrote no {path} (a regular file of at most {METRIC_BYTES} bytes)")
    try:
        content = json.loads(data)
        for part in key.split(".") if key else ():
            content = content[part]
    except (ValueError, RecursionError):
        return Found(sentence=f"{path}, as the notebook wrote it, is no JSON")
    except (KeyError, TypeError, IndexError):
        return Found(sentence=f"{path}, as the notebook wrote it, has no {key!r}")
    if isinstance(content, bool) or not isinstance(content, int | float):
        return Found(sentence=f"{key or 'the content'} of {path} is {str(content)[:_SHOWN]!r}, which is no number")
    try:
        return Found(value=float(content))
    except OverflowError:
        return Found(value=math.inf)
