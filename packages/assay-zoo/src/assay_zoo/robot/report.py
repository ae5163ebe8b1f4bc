"""What the robot says of a submission: one line, one comment, one JSON file. Pure functions of its state."""

from __future__ import annotations

from typing import Any

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot.queue_records import Decided, State, Submission, Whole
from assay_zoo.robot.sanitize import markdown, sanitize

MARKER = "<!-- assay zoo robot: {name} -->"
"""Hidden in the comment of a submission, so that it is found again and edited."""
COMMENT_MOST = 60_000
_SHOWN = 50
_LOUD = (CheckOutcome.FAILED, CheckOutcome.INFRASTRUCTURE, CheckOutcome.UNDECIDED, CheckOutcome.SKIPPED)
_STATES = {
    State.QUEUED: "waits in the queue",
    State.RUNNING: "is checked now",
    State.SUPERSEDED: "is not checked: there is a newer commit",
    State.WITHDRAWN: "is not checked: it was withdrawn",
}
_ANSWERS = {
    Answer.PROMOTE: "accepted",
    Answer.DECLINE: "declined",
    Answer.PERSON: "needs a person",
    Answer.RETRY: "could not be checked, through no fault of it",
}
_NEXT = {
    Answer.DECLINE: "What to do: correct what is said above and push; the robot then checks it again. On a machine of your own "
    "`assay zoo check submissions/{name}` says the same.",
    Answer.PERSON: "What to do: nothing, until a maintainer of the zoo answers.",
    Answer.RETRY: "What to do: nothing. Whoever keeps the robot has it checked again.",
}


def line(whole: Whole, most: int = 140) -> str:
    """One sentence, for a commit status."""
    submission, decided = whole.submission, whole.decision
    if decided is None:
        return sanitize(f"{submission.name} {_STATES.get(submission.state, submission.state)}", most)
    if submission.promoted and decided.answer == Answer.PROMOTE:
        return sanitize(f"accepted and in the zoo by commit {submission.promoted[:12]}", most)
    if submission.trouble:
        return sanitize(f"accepted, but not promoted: {submission.trouble}", most)
    reason = f": {decided.reasons[0]}" if decided.reasons else ""
    return sanitize(_ANSWERS[Answer(decided.answer)] + reason, most)


def comment(whole: Whole, page: str) -> str:
    """Markdown with the marker in front, below COMMENT_MOST characters."""
    marker = MARKER.format(name=whole.submission.name)
    text = "\n".join([marker, *_head(whole), *_body(whole), *_foot(whole.submission, page)])
    if len(text) <= COMMENT_MOST:
        return text
    return "\n".join(
        [marker, *_head(whole), "", "The findings are too long for this place.", *_foot(whole.submission, page)]
    )


def status_name(name: str) -> str:
    """Of the commit status: one for each submission."""
    return f"assay zoo: {name}"


def page(whole: Whole) -> str:
    """All of it, for a page of the robot."""
    return "\n".join([*_head(whole), "", *_body(whole, most=None), "", f"Commit {whole.submission.sha}"])


def as_json(whole: Whole, page: str) -> bytes:
    """For a machine: everything that the comment says."""
    submission, decided = whole.submission, whole.decision
    record: dict[str, Any] = {
        "name": submission.name,
        "sha": submission.sha,
        "branch": submission.branch,
        "state": str(submission.state),
        "answer": decided.answer if decided else "",
        "reasons": decided.reasons if decided else (),
        "checks": decided.checks if decided else (),
        "digest": decided.digest if decided else "",
        "zoo": decided.base if decided else "",
        "promoted": submission.promoted,
        "trouble": submission.trouble,
        "page": page,
    }
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _head(whole: Whole) -> list[str]:
    submission, decided = whole.submission, whole.decision
    name = _plain(submission.name)
    if decided is None:
        return [f"### `{name}` {_STATES.get(submission.state, submission.state)}"]
    return [f"### `{name}`: {_ANSWERS[Answer(decided.answer)]}", "", *_promotion(submission)]


def _plain(name: str) -> str:
    """For a place that shows letters as they are."""
    return sanitize(name, 100).replace("`", "")


def _promotion(submission: Submission) -> list[str]:
    if submission.promoted:
        return [f"In the zoo by commit {submission.promoted}.", ""]
    return [f"Not promoted: {markdown(submission.trouble)}", ""] if submission.trouble else []


def _body(whole: Whole, most: int | None = _SHOWN) -> list[str]:
    decided = whole.decision
    if decided is None:
        return []
    listed = {f"{check.name}: {check.sentence}" for check in decided.checks if check.outcome in _LOUD}
    counted = decided.answer == Answer.PROMOTE  # below the table
    reasons = [reason for reason in decided.reasons if reason not in listed and not counted]  # the table has the others
    lines = [f"- {markdown(reason)}" for reason in reasons[:most]]
    if most and len(reasons) > most:
        lines.append(f"- and {len(reasons) - most} more")
    further = _NEXT.get(Answer(decided.answer), "").format(name=_plain(whole.submission.name))
    return [*lines, *([""] if lines else []), *_table(decided, most), *(["", further] if further else [])]


def _table(decided: Decided, most: int | None) -> list[str]:
    loud = [check for check in decided.checks if check.outcome in _LOUD]
    quiet = len(decided.checks) - len(loud)
    rows = [
        f"| {markdown(check.name)} | {check.outcome} | {markdown(check.sentence)} | {_where(check)} |"
        for check in loud[:most]
    ]
    more = [f"{len(loud) - most} more are on the robot's page.", ""] if most and len(loud) > most else []
    head = ["| check | outcome | what | where |", "|---|---|---|---|"]
    return [
        *([*head, *rows, ""] if rows else []),
        *more,
        f"{quiet} {'other ' if rows else ''}checks passed, {sum(check.executed for check in decided.checks)} cases executed.",
    ]


def _where(check: Check) -> str:
    if not check.path:
        return ""
    return markdown(f"{check.path}:{check.line}" if check.line else check.path, 200)


def _foot(submission: Submission, page: str) -> list[str]:
    link = f" · [all findings, log]({page})" if page else ""
    return ["", f"Commit {submission.sha}{link}", ""]
