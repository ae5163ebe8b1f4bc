"""A head that cannot be fetched, and can be again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from assay_zoo.robot.git import GitFailed
from assay_zoo.robot.poll_submissions import SubmissionPoller
from assay_zoo.robot.records import Head

HEAD = Head(branch="fork:digits", sha="a" * 40, number=7, ref="refs/pull/7/head")


class _World:
    """As much of a forge, a mirror and a queue as a poller asks of them."""

    repository = "zoo"

    def __init__(self) -> None:
        self.broken: Exception | None = None
        self.queued: list[str] = []

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


def test_it_is_told_after_three_misses_and_taken_by_its_own_names_once_it_can_be_fetched() -> None:
    world = _World()
    each = cast(Any, world)
    poller = SubmissionPoller(each, each, each, cast(Any, SimpleNamespace()), wake_workers=lambda: None)
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
