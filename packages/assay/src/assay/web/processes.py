"""One server in several processes: each has an interpreter of its own, and all accept connections from one socket."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

SOON_S = 5.0
"""A process that ends sooner by itself would end so again."""
SWITCH_S = 0.0005
"""How long a thread may compute while another waits for the interpreter. A page asks the database ten questions, and after each answer it
waits so long for every thread that makes another page; Python's own 5 ms are as much as the page itself."""


def in_processes(count: int, serve: Callable[[], None]) -> None:
    """`serve` in this process, or in `count` children that are forked from it, each until it is told to stop; one that dies is started
    again. No thread may run yet. Ends the program with exit code 1 where a child ends as soon as it has begun."""
    sys.setswitchinterval(SWITCH_S)
    if count == 1:
        serve()
        return
    alive, ours = os.pipe()
    parent = _Parent(lambda: _fork(serve, alive, ours))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, parent.stop)
    parent.keep(count)


class _Parent:
    """Of the processes that answer, by their ids with the time at which each began."""

    def __init__(self, fork: Callable[[], int]) -> None:
        self._fork, self._began, self._is_over = fork, dict[int, float](), False

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_over = True
        self._end()

    def keep(self, count: int) -> None:
        """So many, until it is told to stop and all have ended."""
        failed = False
        while self._began or not (self._is_over or failed):
            while len(self._began) < count and not (self._is_over or failed):
                self._began[self._fork()] = time.monotonic()
            if self._is_over:
                self._end()  # one that was forked while the signal came
            pid, status = os.wait()
            began = self._began.pop(pid, 0.0)
            by_itself = os.waitstatus_to_exitcode(status) >= 0
            if by_itself and not self._is_over and time.monotonic() - began < SOON_S:
                failed = True
                self._end()
        if failed:
            sys.exit(1)

    def _end(self) -> None:
        for pid in self._began:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _fork(serve: Callable[[], None], alive: int, ours: int) -> int:
    """`alive` says nothing as long as the parent has `ours` open."""
    pid = os.fork()
    if pid:
        return pid
    os.close(ours)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_the_parent, args=(alive,), daemon=True).start()
    code = 1
    try:
        serve()
        code = 0
    except BaseException as error:  # noqa: BLE001 - a forked process goes no further than here
        print(f"assay: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise AssertionError


def _end_with_the_parent(alive: int) -> None:
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)
