"""What each page shows, worked out from the queue's rows; the templates only lay it out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay_zoo.check import GROUPS, Check, CheckOutcome
from assay_zoo.robot.pages.format import WORST
from assay_zoo.robot.queries import Queries
from assay_zoo.robot.queue_records import Counts, Decided, State, Submission, Whole

SHOWN_MOST = 200
"""Of those that wait or run; a longer queue says how many more there are."""
PAGE = 40
"""Decided submissions on one page."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of one group: `outcome` is the gravest, None where the group was never reached; `executed` counts cases."""

    name: str
    outcome: CheckOutcome | None
    checks: tuple[Check, ...]
    executed: int
    seconds: float


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """`waiting` with the next one first; `closed` are decided, superseded or withdrawn, the newest first; `older` is the
    id before which the next page begins, 0 for no more."""

    counts: Counts
    running: tuple[Submission, ...]
    waiting: tuple[Submission, ...]
    closed: tuple[Submission, ...]
    older: int


def queue_view(reading: Queries, before: int = 0) -> QueueView:
    """The queue as it is now."""
    closed, older = _closed(reading, before)
    return QueueView(
        counts=reading.counts(),
        running=tuple(reading.submissions(state=State.RUNNING, limit=SHOWN_MOST)),
        waiting=tuple(reversed(reading.submissions(state=State.QUEUED, limit=SHOWN_MOST))),
        closed=closed,
        older=older,
    )


def _closed(reading: Queries, before: int) -> tuple[tuple[Submission, ...], int]:
    """A page of what neither waits nor runs. One more than fits is asked for, to know whether there is another page."""
    states = (State.DECIDED, State.SUPERSEDED, State.WITHDRAWN)
    submissions = [
        submission for state in states for submission in reading.submissions(state=state, limit=PAGE + 1, before=before)
    ]
    newest = sorted(submissions, key=lambda submission: submission.id, reverse=True)
    return tuple(newest[:PAGE]), newest[PAGE - 1].id if len(newest) > PAGE else 0


def newest_decision(whole: Whole) -> Decided | None:
    """The decision that stands, or the one before it while the submission is looked at again."""
    return whole.decisions[0] if whole.decisions else None


def groups(checks: Sequence[Check]) -> list[Group]:
    """In the order in which they run, those never reached without an outcome; unknown ones last."""
    names = [*GROUPS, *sorted({check.group for check in checks} - set(GROUPS))]
    return [_group(name, [check for check in checks if check.group == name]) for name in names]


def _group(name: str, checks: Sequence[Check]) -> Group:
    """What failed stands first, the rest as it came."""
    there = {check.outcome for check in checks}
    return Group(
        name=name,
        outcome=next((outcome for outcome in WORST if outcome in there), None),
        checks=tuple(sorted(checks, key=lambda check: WORST.index(check.outcome))),
        executed=sum(check.executed for check in checks),
        seconds=sum(check.seconds for check in checks),
    )
