"""How a page says things: states and answers with their colours, times, figures, and addresses that are safe to follow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from assay.reports import format
from assay.reports.sanitize import one_line, sanitize
from assay_zoo.check import CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot.queue_records import State, Submission

KINDS: Mapping[str, str] = {
    Answer.PROMOTE: "pass",
    Answer.DECLINE: "fail",
    Answer.PERSON: "person",
    Answer.RETRY: "error",
    State.QUEUED: "wait",
    State.RUNNING: "run",
    State.SUPERSEDED: "skip",
    State.WITHDRAWN: "skip",
    CheckOutcome.PASSED: "pass",
    CheckOutcome.FAILED: "fail",
    CheckOutcome.WAIVED: "waived",
    CheckOutcome.SKIPPED: "skip",
    CheckOutcome.UNDECIDED: "person",
    CheckOutcome.INFRASTRUCTURE: "error",
}
"""The colour of every word that stands for a state, an answer or an outcome."""
WORST = (
    CheckOutcome.FAILED,
    CheckOutcome.INFRASTRUCTURE,
    CheckOutcome.UNDECIDED,
    CheckOutcome.WAIVED,
    CheckOutcome.PASSED,
    CheckOutcome.SKIPPED,
)
"""What a group of checks is called by: the first of these that one of its checks ended in. A group is skipped only where
all of it was."""


def kind(word: str) -> str:
    """The colour's name for a word; "skip" for one that is new."""
    return KINDS.get(word, "skip")


def standing(submission: Submission) -> str:
    """In one word what is known of a submission: its answer where it has one that stands, else its state."""
    return submission.answer if submission.state is State.DECIDED and submission.answer else submission.state.value


def moment(at: float) -> str:
    """`2026-11-22 02:41:07 UTC`; "" for not yet."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""


def stamp(at: float) -> str:
    """For a machine: ISO 8601, "" for not yet."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else ""


def ago(at: float, now: float) -> str:
    """`12 s ago`, `3 min ago`, `5 h ago`, `9 days ago`; "" for not yet."""
    if not at:
        return ""
    passed = max(0.0, now - at)
    for limit, unit, name in ((90, 1, "s"), (5400, 60, "min"), (129600, 3600, "h")):
        if passed < limit:
            return f"{round(passed / unit)} {name} ago"
    return f"{round(passed / 86400)} days ago"


def took(begin: float, end: float) -> str:
    """How long from one moment to another; "" where one of them is not yet."""
    return format.duration(max(0.0, end - begin)) if begin and end else ""


def figures(metrics: Mapping[str, float | str]) -> list[tuple[str, str]]:
    """Measured figures with their units, in the order in which the check names them."""
    return [
        (one_line(name), one_line(value) if isinstance(value, str) else format.metric(name, value))
        for name, value in metrics.items()
    ]


def where(path: str, line: int) -> str:
    """`README.md:12`, or the path alone, or nothing."""
    return one_line(f"{path}:{line}" if path and line else path)


def followed(address: str) -> str:
    """An address that a link may have: http or https with a host, else "". A third party may have written it."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return ""
    return address.strip() if parts.scheme in ("http", "https") and parts.hostname else ""


FILTERS = {
    "kind": kind, "standing": standing, "moment": moment, "stamp": stamp, "took": took, "ago": ago, "figures": figures,
    "where": where, "followed": followed, "line": one_line, "plain": sanitize, "segment": lambda name: quote(name, safe=""),
}  # fmt: skip
"""What the templates may call."""
