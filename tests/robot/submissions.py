"""Submissions in every state, as the queue would hand them out."""

from __future__ import annotations

from collections.abc import Sequence

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot.queue_records import Decided, State, Submission, Whole

SHA = "a" * 40


def whole(
    answer: str = "",
    *,
    checks: Sequence[Check] = (),
    reasons: Sequence[str] = (),
    state: State | None = None,
    number: int = 1,
    sha: str = SHA,
    name: str = "digits",
    promoted: str = "",
    trouble: str = "",
    identity: int = 1,
) -> Whole:
    submission = Submission(
        id=identity, repository="zoo/models", name=name, sha=sha, branch="octocat:patch-1", ref="refs/pull/1/head",
        number=number, author="octocat", title="A model", url="", state=state or (State.DECIDED if answer else State.QUEUED),
        answer=answer, promoted=promoted, trouble=trouble, attempts=0, round=1, received_at=1.0, queued_at=1.0,
        started_at=2.0, decided_at=3.0 if answer else 0.0,
    )  # fmt: skip
    decided = Decided(answer=answer, reasons=tuple(reasons), checks=tuple(checks), at=3.0)
    return Whole(submission=submission, decisions=(decided,) if answer else (), log=())


def failed(count: int, sentence: str = "the readme lacks a section") -> list[Check]:
    return [
        Check(
            name="artifacts.readme",
            outcome=CheckOutcome.FAILED,
            sentence=f"{sentence} {n}",
            path="README.md",
            line=n + 1,
        )
        for n in range(count)
    ]
