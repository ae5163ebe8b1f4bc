"""A head that cannot be fetched, and can be again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec import structs
from queues import head

from assay_zoo.decision import Answer, Decision
from assay_zoo.inspect import Inspection
from assay_zoo.robot import poll_submissions
from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.mirror import Moved
from assay_zoo.robot.outbox import Outbox, OutboxEntry
from assay_zoo.robot.outbox_worker import OutboxWorker
from assay_zoo.robot.poll_submissions import SubmissionPoller
from assay_zoo.robot.promotion import Promoter
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Decided, Head, State
from assay_zoo.robot.sources.source import SourceFailed

HEAD = Head(branch="fork:digits", sha="a" * 40, number=7, ref="refs/pull/7/head")


class _World:
    """As much of a forge, a mirror and a queue as a poller asks of them."""

    repository = "zoo"

    def __init__(self) -> None:
        self.broken: Exception | None = None
        self.queued: list[str] = []
        self.decided: Any = None
        self.there: Head | None = None

    def fetch_head(self, head: Head) -> None:
        if self.broken:
            raise self.broken

    def submissions_of(self, head: Head, base: str) -> list[str]:
        return ["mnist"]

    def names(self, head: Head, found: list[str]) -> list[str]:
        return found

    def note(self, *_: object) -> None: ...

    def enqueue(self, repository: str, head: Head, name: str) -> tuple[int, bool]:
        new = name not in self.queued
        if new:
            self.queued.append(name)
        return 1, new

    def submission(self, identity: int) -> Any:
        return self.decided

    def head(self, branch: str, number: int) -> Head | None:
        return self.there

    def take_over(self, identity: int, head: Head) -> bool:
        self.queued.append(f"taken over by {head.number}")
        return True


def test_it_is_told_after_three_misses_and_taken_by_its_own_names_once_it_can_be_fetched() -> None:
    world = _World()
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, each, wake_workers=lambda: None)
    world.broken = GitFailed("git fetch failed: a broken object")
    for _ in range(3):
        assert world.queued == []
        poller._take(HEAD, "base")
    assert world.queued == ["digits"], "its author is told under the name of its branch"
    assert poller._seen == {}, "and it is looked at again"
    world.broken = None
    poller._take(HEAD, "base")
    assert world.queued == ["digits", "mnist"]
    assert poller._seen == {("fork:digits", 7): HEAD.sha}


@pytest.mark.parametrize(
    ("there", "is_taken"),
    [(None, True), (HEAD, False), (structs.replace(HEAD, sha="b" * 40), True)],
    ids=["closed", "still open", "moved on"],
)
def test_a_decided_commit_is_anothers_once_its_request_has_it_no_more(there: Head | None, is_taken: bool) -> None:
    world = _World()
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, each, wake_workers=lambda: None)
    poller._take(HEAD, "base")
    world.decided, world.there = HEAD, there
    poller._take(HEAD, "base")
    assert world.queued == ["mnist"], "its own request asks for nothing"
    poller._take(structs.replace(HEAD, number=8), "base")
    assert world.queued == ["mnist", *(["taken over by 8"] if is_taken else [])]


class _Open(_World):
    """Requests that are open now."""

    def __init__(self, *heads: Head) -> None:
        super().__init__()
        self.open = heads

    def heads(self) -> list[Head]:
        return list(self.open)

    def head(self, branch: str, number: int) -> Head | None:
        return next((head for head in self.open if (head.branch, head.number) == (branch, number)), None)

    def fetch_base(self) -> str:
        return "base"

    def keep_only(self, commits: set[str]) -> None: ...

    def open_branches(self, repository: str) -> list[tuple[str, int]]:
        return []

    def open_heads(self) -> set[str]:
        return set()

    def unapproved(self, repository: str, commits: set[str]) -> list[Any]:
        return []


ALICE = structs.replace(HEAD, branch="alice:digits", author="alice")
BOB = structs.replace(HEAD, branch="bob:digits", number=8, author="bob")
NEWER = structs.replace(ALICE, sha="b" * 40)


@pytest.mark.parametrize("is_decided", [False, True], ids=["open", "decided"])
@pytest.mark.parametrize("left", [(BOB,), (BOB, NEWER), (NEWER, BOB)], ids=["closed", "moved on", "moved on first"])
def test_a_commit_is_the_second_requests_once_the_first_has_it_no_more(
    queue: Queue, left: tuple[Head, ...], is_decided: bool
) -> None:
    world = _Open(ALICE, BOB)
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    poller.look_everywhere()
    if is_decided:
        lease = queue.lease("w1")
        assert lease is not None
        assert queue.decide(lease, Decided(answer=Answer.DECLINE, reasons=(), checks=()), [])
    world.open = left
    poller.look_everywhere()
    (submission,) = queue.find(BOB.sha)
    assert (submission.state, submission.number, submission.author) == (State.QUEUED, 8, "bob")


@pytest.mark.parametrize(
    ("first", "then"),
    [((ALICE,), ALICE), ((ALICE, BOB), BOB), ((ALICE, BOB), ALICE)],
    ids=["opened again", "another has it", "opened again beside another"],
)
def test_a_commit_whose_request_was_closed_before_its_promotion_is_checked_for_who_hands_it_in(
    queue: Queue, first: tuple[Head, ...], then: Head
) -> None:
    world = _Open(*first)
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    poller.look_everywhere()
    lease = queue.lease("w1")
    assert lease is not None
    decision = Decision(answer=Answer.PROMOTE, reasons=())
    made = Inspection(name="mnist", digest="d", checks=(), decision=decision, at="")
    decided = Decided(answer=Answer.PROMOTE, reasons=(), checks=())
    assert queue.decide(lease, decided, [OutboxEntry.PROMOTE], msgspec.json.encode(made).decode())
    worker = OutboxWorker(
        queue=queue, outbox=Outbox(queue.database), source=each, look_again=poller.look_again, public_url="",
        promoter=cast(Any, SimpleNamespace(promote=lambda one, *_, **__: Promoter._still_wanted(each, one))),
    )  # fmt: skip
    each._source, world.open = each, ()
    whole = queue.whole(lease.submission.id)
    assert whole is not None
    worker._promote(whole)
    (closed,) = queue.find(ALICE.sha)
    assert (closed.state, closed.answer) == (State.WITHDRAWN, "")
    world.open = (then,)  # before anybody looked
    poller.look_everywhere()
    (again,) = queue.find(ALICE.sha)
    assert (again.state, again.number) == (State.QUEUED, then.number)


def test_what_is_doubted_while_it_is_being_looked_at_is_looked_at_again() -> None:
    world = _Open(ALICE)
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, each, wake_workers=lambda: None)
    fetched: list[Head] = []

    def fetch_head(head: Head) -> None:
        fetched.append(head)
        if len(fetched) == 1:
            poller.look_again(head.sha)  # as the outbox's thread does, at any moment

    world.fetch_head = fetch_head  # type: ignore[method-assign]
    for _ in range(3):
        poller.look_everywhere()
    assert fetched == [ALICE, ALICE]


def test_what_a_listing_leaves_out_is_not_withdrawn(queue: Queue) -> None:
    """Of very many branches only the first are listed."""
    first, last = head("a", "submission/a"), head("b", "submission/b")
    world = _Open(first, last)
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    poller.look_everywhere()
    world.heads = lambda: [first]  # type: ignore[method-assign]
    poller.look_everywhere()
    assert [submission.state for submission in queue.find(last.sha)] == [State.QUEUED]


def test_many_new_heads_are_taken_by_several_looks(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_submissions, "_AT_ONCE", 2)
    world = _Open(*(head(sha, f"submission/{sha}") for sha in "abc"))
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    counts = []
    for _ in range(2):
        poller.look_everywhere()
        counts.append(queue.counts().queued)
    assert counts == [2, 3]


@pytest.mark.parametrize("error", [GitFailed("too large"), SourceFailed("502"), Moved("is elsewhere"), OSError("disk")])
def test_heads_that_cannot_be_taken_keep_no_other_out(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(poll_submissions, "_AT_ONCE", 2)
    world = _Open(*(head(sha, f"submission/{sha}") for sha in "abc"))

    def fetch_head(head: Head) -> None:
        if head.branch != "submission/c":
            raise error

    world.fetch_head = fetch_head  # type: ignore[method-assign]
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    for _ in range(3):
        poller._try(poller.look_everywhere)
    assert [submission.branch for submission in queue.find("c" * 40)] == ["submission/c"]


def test_heads_that_failed_are_no_reason_to_look_again_soon(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_submissions, "_AT_ONCE", 2)
    world = _Open(*(head(sha, f"submission/{sha}") for sha in "abc"))

    def fetch_head(head: Head) -> None:
        raise GitFailed(f"{head.branch} is broken")

    world.fetch_head = fetch_head  # type: ignore[method-assign]
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    soon = []
    for _ in range(3):
        poller._soon = False
        poller._try(poller.look_everywhere)
        soon.append(poller._soon)
    assert soon == [True, False, False], "the third of them was not tried by the first look"


@pytest.mark.parametrize("error", [GitFailed("too large"), Moved("is elsewhere")])
def test_tries_of_heads_that_are_gone_are_forgotten(queue: Queue, error: Exception) -> None:
    world = _Open(head("a", "submission/a"))

    def fetch_head(head: Head) -> None:
        raise error

    world.fetch_head = fetch_head  # type: ignore[method-assign]
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, queue, wake_workers=lambda: None)
    poller.look_everywhere()
    assert poller._tries == {"a" * 40: 1}
    world.heads = lambda: []  # type: ignore[method-assign]
    poller.look_everywhere()
    assert (poller._tries, poller._missed) == ({}, {})
