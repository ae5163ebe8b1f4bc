"""Annotations of GitHub: workflow commands, which a step prints. At most as many as GitHub shows of one step."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.reports.remarks import WARNING, Remark, remarks

MOST = 10
"""GitHub keeps ten errors and ten warnings of a step, and leaves the others out without a word."""
TEXT_LIMIT = 1500
_WARNINGS = (VerdictStatus.INCONCLUSIVE.value, WARNING)


class GitHub:
    """`::error file=...,title=...::reason`; an inconclusive verdict and a critical warning are warnings. Where there are more, the last
    one says how many."""

    name = "github"
    suffix = ".txt"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Nothing where all is well and nothing was warned of. Names and messages are escaped: none can begin a command of its own."""
        levels: dict[str, list[str]] = {"error": [], "warning": []}
        for remark in remarks(run, results, judgement):
            level = "warning" if remark.word in _WARNINGS else "error"
            levels[level].append(_command(level, remark))
        lines: list[str] = []
        for level, remarks_of_level in levels.items():
            shown = remarks_of_level if len(remarks_of_level) <= MOST else remarks_of_level[: MOST - 1]
            lines += shown
            if len(shown) < len(remarks_of_level):
                lines.append(
                    f"::{level} title=Assay::{len(remarks_of_level) - len(shown)} more are in the summary of the job"
                )
        return "\n".join(lines) + "\n" if lines else ""


def _command(level: str, remark: Remark) -> str:
    text = remark.text if len(remark.text) <= TEXT_LIMIT else f"{remark.text[: TEXT_LIMIT - 3]}..."
    text = "\n".join(line for line in (text, remark.log and f"log: {remark.log}", remark.repeat) if line)
    title = f"{remark.word or 'not run'}: {remark.title}"
    where = f"file={_property(remark.path)}," if remark.path else ""
    return f"::{level} {where}title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    """As GitHub's own toolkit escapes a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
