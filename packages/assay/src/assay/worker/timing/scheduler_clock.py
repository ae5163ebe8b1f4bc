"""How long this thread had to wait for a core: on a shared machine that is the neighbours', and no part of what is measured."""

from __future__ import annotations

import os
import threading
import time
from functools import cache

_WARNED = "/proc/thread-self/schedstat"


def running_time() -> float:
    """Seconds by the wall clock, less those in which this thread was ready and no core was free for it (Linux: sched-stats.rst,
    the second metric of schedstat). Sleep, locks and files count. Elsewhere it is the wall clock. Only differences mean
    anything, and only within one thread."""
    file = _file(os.getpid(), threading.get_native_id())
    if file is None:
        return time.perf_counter()
    delayed_ns = -1
    while True:
        # Between two readings of the clocks a neighbour may come in; most often when a call of the system returns.
        before_ns, wall = delayed_ns, time.perf_counter()
        delayed_ns = int(os.pread(file, 80, 0).split()[1])
        if delayed_ns == before_ns:
            return wall - 1e-9 * delayed_ns


@cache
def _file(_process: int, _thread: int) -> int | None:
    """Stays open: opening it for every reading would cost more than a short call does."""
    try:
        return os.open(_WARNED, os.O_RDONLY)
    except OSError:
        return None
