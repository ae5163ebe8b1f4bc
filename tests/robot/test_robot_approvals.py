"""Approvals that the robot asks the forge for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import structs
from queues import head

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot import poll_submissions
from assay_zoo.robot.poll_submissions import SubmissionPoller
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Decided, Head

HEADS = [Head(branch=f"fork:{number}", sha=f"{number:040}", number=number, ref="refs/x") for number in range(1, 51)]


class _World:
    """As much of a forge, a mirror and a queue as approvals need: each request waits for one."""

    repository = "zoo"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def unapproved(self, *_: object) -> list[Any]:
        return [SimpleNamespace(id=each.number, branch=each.branch, number=each.number, sha=each.sha) for each in HEADS]

    def fetch_base(self) -> None: ...

    def author_of(self, submission: object) -> str:
        return "alice"

    def approved(self, head: Head) -> str:
        self.asked.append(head.number)
        return ""


def test_a_look_asks_for_few_and_the_next_one_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_submissions, "approved_authors", lambda _: [])
    world = _World()
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, each, wake_workers=lambda: None)
    looks = []
    for _ in range(3):
        poller._approve({(head.branch, head.number): head for head in HEADS})
        looks.append(len(world.asked))
    assert looks == [20, 40, 60]
    assert set(world.asked) == {head.number for head in HEADS}


def test_an_approval_is_asked_for_of_the_requests_that_are_open(queue: Queue) -> None:
    waits = Check(name="artifacts.author", outcome=CheckOutcome.UNDECIDED, sentence="reads it first")
    for sha in "abc":
        queue.enqueue("zoo", head(sha, f"submission/{sha}"), "mnist")
        lease = queue.lease("w1")
        assert lease is not None
        assert queue.decide(lease, Decided(answer=Answer.PERSON, reasons=(), checks=(waits,)), [])
    assert [submission.sha[0] for submission in queue.unapproved("zoo", {"a" * 40, "c" * 40})] == ["c", "a"]


def test_of_many_that_wait_for_an_approval_none_is_forgotten(queue: Queue) -> None:
    waits = Check(name="artifacts.author", outcome=CheckOutcome.UNDECIDED, sentence="reads it first")
    shas = [f"{number:040x}" for number in range(120)]
    for sha in shas:
        submitted = structs.replace(head("a", f"submission/{sha}"), sha=sha)
        queue.enqueue("zoo", submitted, "mnist")
        lease = queue.lease("w1")
        assert lease is not None
        assert queue.decide(lease, Decided(answer=Answer.PERSON, reasons=(), checks=(waits,)), [])
    assert {submission.sha for submission in queue.unapproved("zoo", shas)} == set(shas)
