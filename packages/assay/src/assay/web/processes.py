"""One server in several processes: each has an interpreter of its own, and all accept connections from one socket."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from assay.errors import AssayError, UsageError

STOPPING = (signal.SIGINT, signal.SIGTERM)
SOON_S = 5.0
"""A process that ends sooner by itself would end so again."""
IN_A_ROW = 5
"""So often a process that a signal ended soon is started again: the kernel ends one so that finds no memory."""
PAUSE_S = 0.5
"""Before the first such start; twice as long before each further one."""
LOOK_S = 0.05
SWITCH_S = 0.0005
"""How long a thread may compute while another waits for the interpreter. A page asks the database ten questions, and after each answer it
waits so long for every thread that makes another page; Python's own 5 ms are as much as the page itself."""


def in_processes(count: int, serve: Callable[[], None]) -> None:
    """`serve` in this process, or in `count` children that are forked from it, each until it is told to stop; one that dies is started
    again. No thread may run yet. Ends the program where a child ends as soon as it has begun: with the child's exit code, or with 1 where
    signals ended several in a row."""
    sys.setswitchinterval(SWITCH_S)
    if count == 1:
        serve()
        return
    alive, ours = os.pipe()
    parent = _Parent(lambda: _fork(serve, alive, ours))
    for number in STOPPING:
        signal.signal(number, parent.stop)
    parent.keep(count)


class _Parent:
    """Of the processes that answer, by their ids with the time at which each began."""

    def __init__(self, fork: Callable[[], int]) -> None:
        self._fork, self._began, self._is_over = fork, dict[int, float](), False
        self._in_a_row, self._rested, self._failed = 0, 0.0, 0

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_over = True
        self._end()

    def keep(self, count: int) -> None:
        """So many, until it is told to stop and all have ended."""
        while self._began or not (self._is_over or self._failed):
            while len(self._began) < count and not (self._is_over or self._failed):
                self._began[self._fork()] = time.monotonic()
            if self._is_over:
                self._end()  # one that was forked while the signal came
            pid, status = os.wait()
            began = self._began.pop(pid, 0.0)
            if not (self._is_over or self._failed):
                self._ended(pid, os.waitstatus_to_exitcode(status), began)
        if self._failed:
            sys.exit(self._failed)

    def _ended(self, pid: int, code: int, began: float) -> None:
        now = time.monotonic()
        soon = now - began < SOON_S
        if code < 0:
            _say(f"process {pid} ended by signal {-code} ({signal.strsignal(-code)})")
        if code >= 0 and soon:
            self._fail(code or 1)
        # One that ended while this one rested belongs to the same row.
        if code < 0 and soon and began >= self._rested:
            self._in_a_row = self._in_a_row + 1 if now - self._rested < 2 * SOON_S else 1
            if self._in_a_row > IN_A_ROW:
                _say(
                    f"signals ended {self._in_a_row} processes in a row as soon as they began: no further one is started"
                )
                self._fail(1)
            else:
                self._rest(PAUSE_S * 2 ** (self._in_a_row - 1))

    def _fail(self, code: int) -> None:
        self._failed = code
        self._end()

    def _rest(self, seconds: float) -> None:
        """In short steps: the signal that stops the server does not end a sleep."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_over:
            time.sleep(LOOK_S)
        self._rested = time.monotonic()

    def _end(self) -> None:
        for pid in self._began:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _fork(serve: Callable[[], None], alive: int, ours: int) -> int:
    """`alive` says nothing as long as the parent has `ours` open."""
    # Until the child has handlers of its own, it has the parent's.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pid
    os.close(ours)
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    threading.Thread(target=_end_with_the_parent, args=(alive,), daemon=True).start()
    code = 1
    try:
        serve()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except AssayError as error:
        code = 2 if isinstance(error, UsageError) else 4
        _say(str(error))
    except BaseException:  # noqa: BLE001 - a forked process goes no further than here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    raise AssertionError


def _say(words: str) -> None:
    print(f"assay: {words}", file=sys.stderr, flush=True)


def _end_with_the_parent(alive: int) -> None:
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)
