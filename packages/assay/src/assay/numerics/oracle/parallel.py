"""Parts of one large operator in several threads: numpy lets go of the interpreter inside its products and copies.

Each thread takes the next part when it is done with one, so that a core that other work keeps busy costs what it takes and no more. The
parts are the same for any number of threads, and so is every bit of the answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, Thread
from typing import TypeVar

Part = TypeVar("Part")
WORTH = 1 << 27
"""Products of one operator, some milliseconds, from which on a thread is worth beginning."""
MOST = 4
"""Threads: beyond, memory is the limit, and other workers may want the cores."""


def in_threads(work: Callable[[Part], None], parts: Iterable[Part], products: int) -> None:
    """`work` on every part; parts must not write to the same place. Raises what the first that fails raises."""
    count = min(MOST, _cores()) if products >= WORTH else 1
    if count == 1:
        for part in parts:
            work(part)
        return
    waiting, lock, failures = iter(parts), Lock(), list[BaseException]()

    def take() -> None:
        while not failures:
            with lock:
                part = next(waiting, None)
            if part is None:
                return
            try:
                work(part)
            except BaseException as error:  # noqa: BLE001  raised again by the thread that asked
                failures.append(error)

    # What numpy passes over in silence is a matter of the context.
    others = [Thread(target=copy_context().run, args=(take,), name="oracle") for _ in range(count - 1)]
    begun: list[Thread] = []
    with suppress(RuntimeError):  # a sandbox may allow no more of them
        for other in others:
            other.start()
            begun.append(other)
    take()
    for thread in begun:
        thread.join()
    if failures:
        raise failures[0]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
