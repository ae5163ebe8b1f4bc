"""What a service that was started holds in memory while it is loaded: readings beside the load, from a thread of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from assay.launch.process_tree import descendants
from assay.launch.tree_memory import MACHINE_BYTES, tree_bytes
from assay.serving.started import Started

_READINGS = 400
_SHORTEST_S = 0.1
Readings = list[tuple[float, int]]
"""Seconds from the start, and bytes of all processes of the service."""


@contextmanager
def watched_memory(running: Started, seconds: float) -> Iterator[Readings]:
    """Readings as they come, about `_READINGS` of them; none of a service that Assay did not start."""
    found: Readings = []
    if running.process is None:
        yield found
        return
    pid, over, began = running.process.pid, threading.Event(), time.monotonic()
    every_s = max(_SHORTEST_S, seconds / _READINGS)

    def read() -> None:
        while not over.wait(every_s):
            if size := tree_bytes(pid, descendants(pid), MACHINE_BYTES):
                found.append((time.monotonic() - began, size))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
