"""The time limit of what a worker does now: of its start, of an import, or of the rest of its job."""

from __future__ import annotations

from typing import Protocol

from assay.launch.core_wait import FIRST_LOOK_S, LEAST_SHARE, LONGEST, LOOK_S


class Wait(Protocol):
    """How long what is limited waited for a core, as of the last look."""

    seconds: float

    def look(self, now_s: float) -> None: ...


class TimeLimit:
    """Over at `deadline`, which is put off by the time that the process waited for a core, but not past LONGEST times the limit."""

    def __init__(self, limit_s: float, now: float, wait: Wait | None = None) -> None:
        """`wait` None: it is not put off."""
        self.deadline = now + limit_s
        self._limit_s, self._begun = limit_s, now
        self._next_look = now + min(FIRST_LOOK_S, limit_s / 20)
        self._wait = wait

    @property
    def next_s(self) -> float:
        """When it is to be asked again."""
        return min(self._next_look, self.deadline) if self._wait is not None else self.deadline

    @property
    def waited_s(self) -> float:
        """How long it waited for a core so far."""
        return self._wait.seconds if self._wait is not None else 0.0

    def is_over(self, now: float) -> bool:
        """To be asked again and again: it looks at the process from time to time."""
        if self._wait is not None and now >= self.next_s:
            self._next_look = now + LOOK_S
            self._wait.look(now)
            extra_s = min(self._wait.seconds, (LONGEST - 1.0) * self._limit_s)
            due = self._begun + self._limit_s + extra_s
            if due - self.deadline > LEAST_SHARE * self._limit_s:
                self.deadline = due
        return now >= self.deadline
