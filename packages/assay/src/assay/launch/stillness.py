"""Whether a process does nothing at all: it neither computes nor waits for a core. One that imports does so again and again."""

from __future__ import annotations

import os
from contextlib import suppress

STILL_S = 15.0
"""So long, before a worker that is forked has said its first word: then it, or who forks it, is stuck."""
LOOK_S = 0.5
BETWEEN_S = 2.0
"""The longest time between two looks that counts: beyond it this process itself stood still, perhaps with that one."""


class Stillness:
    """Of one process after another: `is_stuck` is asked again and again."""

    def __init__(self, now: float) -> None:
        self._looked, self._still_s, self._seen = now, 0.0, ""

    def is_stuck(self, pid: int, now: float) -> bool:
        passed = now - self._looked
        if passed >= LOOK_S:
            self._looked, before, self._seen = now, self._seen, f"{pid} {_work(pid)}"
            self._still_s = self._still_s + min(passed, BETWEEN_S) if self._seen == before else 0.0
        return self._still_s >= STILL_S


def _work(pid: int) -> str:
    """What its threads have computed and waited for a core (schedstat, in proc(5)): the same as before where they did neither."""
    threads = []
    with suppress(OSError):
        for thread in sorted(os.listdir(f"/proc/{pid}/task")):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                threads.append(f"{thread}:{file.read().strip()}")
    return " ".join(threads)
