"""Approvals that the robot asks the forge for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay_zoo.robot import poll_submissions
from assay_zoo.robot.poll_submissions import SubmissionPoller
from assay_zoo.robot.queue_records import Head

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
