"""A statement whose answer does not come: the server is asked, and given up where it does not answer either."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from psycopg import OperationalError

from assay.stores import watched_connection
from assay.stores.watched_connection import watched


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(watched_connection, "time", clock)
    return clock


def _statement(steps: int) -> Generator[int, int, str]:
    for _ in range(steps):
        while not (yield 1):
            pass
    return "an answer"


def _run(clock: Clock, steps: int, ready: list[int], answers: list[bool]) -> tuple[str, int]:
    """Each look takes four seconds."""
    asked: list[bool] = []

    def is_answering() -> bool:
        asked.append(answers[len(asked)])
        return asked[-1]

    closed: list[int] = []
    waiting = watched(_statement(steps), is_answering, lambda: closed.append(1))  # type: ignore[arg-type]
    try:
        next(waiting)
        for some in ready:
            clock.now += 4.0
            waiting.send(some)
    except StopIteration as end:
        assert not closed
        return end.value, len(asked)
    except OperationalError as error:
        assert closed == [1]
        return str(error), len(asked)
    return "waits", len(asked)


@pytest.mark.parametrize(
    ("steps", "ready", "answers", "expected"),
    [
        (1, [1], [], ("an answer", 0)),
        (1, [0, 0, 1], [], ("an answer", 0)),
        (1, [0, 0, 0, 1], [True], ("an answer", 1)),
        (1, [0] * 9, [True, True, True], ("waits", 3)),
        (1, [0] * 6, [False, False], ("the server says nothing any more", 2)),
        (1, [0] * 12, [False, True, False, True], ("waits", 4)),
        (2, [0, 0, 1, 0, 0, 1], [], ("an answer", 0)),
        (3, [0, 0, 0, 1, 0, 0, 0, 1, 1], [False, False], ("an answer", 2)),
    ],
)
def test_it_is_given_up_where_nobody_answers_twice(
    clock: Clock, steps: int, ready: list[int], answers: list[bool], expected: tuple[str, int]
) -> None:
    assert _run(clock, steps, ready, answers) == expected
