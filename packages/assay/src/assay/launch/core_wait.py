"""How long a job waited for a core that others had. Its time limit counts by the clock, less that time: a busy machine is no fault of the
job. Sleeping, waiting for a lock or a file, and standing in its own way with more threads than cores give it nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from assay.launch.process_tree import descendants

LOOK_S = 0.25
"""Between two looks at the threads of a job."""
FIRST_LOOK_S = 0.05
"""After its beginning: a job that is done before costs no look."""
LONGEST = 4.0
"""Times its limit, by the clock: then a job ends, however long it waited."""
LEAST_SHARE = 0.03
"""Of the limit: a shorter wait does not put it off. On an idle machine a thread waits, too, for some milliseconds."""
_TICKS = os.sysconf("SC_CLK_TCK")
_USED = slice(11, 15)
"""utime, stime, cutime, cstime in /proc/PID/stat (proc(5)), counted from the state."""


@dataclass(frozen=True)
class Look:
    """At one moment: the processor time of a process and all that descends from it, and how long each of their threads was ready and
    had no core, by its number. `unsure` are those whose time is lost when they end; none where it is counted elsewhere."""

    at_s: float
    used_s: float
    delays_ns: Mapping[int, int]
    unsure: frozenset[int] = frozenset()


def waited_s(before: Look, now: Look, cores: int) -> float:
    """In between: what the thread waited that waited longest, and no more than the time in which others had the cores that these
    processes may use. Nothing where a process came or went whose time may be lost: they may have had the cores themselves."""
    if before.unsure != now.unsure:
        return 0.0
    longest_s = 1e-9 * max((_since(before.delays_ns, *item) for item in now.delays_ns.items()), default=0)
    free_s = now.at_s - before.at_s - max(now.used_s - before.used_s, 0.0) / cores
    return max(min(longest_s, free_s), 0.0)


class CoreWait:
    """Of one process and all that descends from it. `seconds` grows with each look; the first look is where it begins.

    `used_s` is asked for the processor time of all of them, where some may end and nobody waits for them (SIGCHLD is ignored: then the
    kernel adds their time to nobody's, wait(2)). None: it is not counted either.
    """

    def __init__(self, pid: int, used_s: Callable[[], float | None] | None = None) -> None:
        self.seconds = 0.0
        self._pid, self._used_s = pid, used_s
        self._last: Look | None = None

    def look(self, now_s: float) -> None:
        """To be called again and again: a process that has ended since is not counted."""
        tree = [self._pid, *descendants(self._pid)]
        delays = {thread: delay for process in tree for thread, delay in _delays_ns(process)}
        counted = self._used_s() if self._used_s is not None else None
        unsure = frozenset(tree) if self._used_s is not None and counted is None else frozenset[int]()
        look = Look(now_s, sum(map(_used_s, tree)) if counted is None else counted, delays, unsure)
        if self._last is not None:
            self.seconds += waited_s(self._last, look, _cores(self._pid))
        self._last = look


def _since(before: Mapping[int, int], thread: int, delay: int) -> int:
    """A number that was given to another thread since begins again."""
    known = before.get(thread, 0)
    return delay - known if delay >= known else delay


def _delays_ns(pid: int) -> list[tuple[int, int]]:
    """The second number of schedstat (sched-stats.rst), of each thread; none where it is gone or the kernel does not say."""
    delays: list[tuple[int, int]] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            path = f"/proc/{pid}/task/{thread}/schedstat"
            with suppress(OSError, ValueError, IndexError), open(path, "rb", buffering=0) as file:
                delays.append((int(thread), int(file.read().split()[1])))
    return delays


def used_by_tree_s(pid: int) -> float:
    """Processor time of that process and of all that it started, those that live among them."""
    return sum(map(_used_s, [pid, *descendants(pid)]))


def _used_s(pid: int) -> float:
    """Processor time of that process and of its children that have ended."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        return sum(map(int, file.read().rpartition(b")")[2].split()[_USED])) / _TICKS
    return 0.0


def _cores(pid: int) -> int:
    with suppress(OSError, AttributeError):
        return len(os.sched_getaffinity(pid))
    return os.cpu_count() or 1
