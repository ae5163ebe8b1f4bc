"""An open queue with a clock that a test winds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay_zoo.robot.database import Database
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Head


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(location: str) -> Iterator[Database]:
    opened = Database(location)
    yield opened
    opened.close()


@pytest.fixture
def queue(database: Database, clock: Clock) -> Queue:
    return Queue(database, lease_s=60, now=clock)


def head(sha: str, branch: str = "submission/a", number: int = 0) -> Head:
    return Head(sha=sha * 40, branch=branch, ref=f"refs/heads/{branch}", number=number)
