"""The time limit of what a worker does now: of its start, of an import, or of the rest of its job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay.launch.core_wait import FIRST_LOOK_S, LEAST_SHARE, LONGEST, LOOK_S


class Wait(Protocol):
    """How long what is limited waited for a core, as of the last look."""

    seconds: float

    def look(self, now_s: float) -> None: ...


class TimeLimit:
    """Over at `deadline`, which is put off by the time that the process waited for a core, but not past LONGEST times the limit."""

    def __init__(
        self, limit_s: float, now: float, wait: Wait | None = None, times_slower: Callable[[], float] | None = None
    ) -> None:
        """`wait` None: it is not put off. `times_slower` is asked when the limit is first reached: by that it is multiplied."""
        self.deadline, self.limit_s = now + limit_s, limit_s
        self._begun = now
        self._next_look = now + min(FIRST_LOOK_S, limit_s / 20)
        self._wait, self._times_slower = wait, times_slower

    @property
    def next_s(self) -> float:
        """When it is to be asked again."""
        return min(self._next_look, self.deadline) if self._wait is not None else self.deadline

    @property
    def waited_s(self) -> float:
        """How long it waited for a core so far."""
        return self._wait.seconds if self._wait is not None else 0.0

    @property
    def is_put_off_no_more(self) -> bool:
        """Whether it waited for a core so long that the clock alone ends it: it may not have had its time."""
        return self.waited_s >= self._most_put_off_s

    @property
    def _most_put_off_s(self) -> float:
        return (LONGEST - 1.0) * self.limit_s

    def count_not(self, seconds: float) -> None:
        """Time in which nobody could tell how long the process had."""
        self._begun += seconds
        self.deadline += seconds
        self._next_look += seconds

    def is_over(self, now: float) -> bool:
        """To be asked again and again: it looks at the process from time to time."""
        if self._wait is not None and now >= self.next_s:
            self._next_look = now + LOOK_S
            self._wait.look(now)
            self._put_off()
        if now >= self.deadline and self._times_slower is not None:
            self.limit_s *= self._times_slower()
            self._times_slower = None
            self._put_off()
        return now >= self.deadline

    def _put_off(self) -> None:
        due = self._begun + self.limit_s + min(self.waited_s, self._most_put_off_s)
        if due - self.deadline > LEAST_SHARE * self.limit_s:
            self.deadline = due
