"""A process and all that descends from it: what it holds, and its end. Also what has left its session, and what has lost its parent.

A worker adopts the orphans below it (`worker/__main__.py`), so as long as it lives its whole tree hangs on it. When it has died, the
driver adopts what is left, if it may, and knows it by a variable that all workers of this driver are started with.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

MARK = "_ASSAY_WORKER_OF"
"""Not one of ASSAY_*: those are part of what an artifact is kept under."""
_value = f"{os.getpid()}-{secrets.token_hex(8)}"
_lock = threading.Lock()
_started: set[int] = set()
_adopted = [False]
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_KILL_ROUNDS = 50
"""Of looking for processes that were made while others were being ended."""


def marked(variables: dict[str, str]) -> dict[str, str]:
    """Those of a process that is known as ours later."""
    return {**variables, MARK: f"{os.environ.get(MARK, '')} {_value}"}


@contextmanager
def starting() -> Iterator[Callable[[int], None]]:
    """Around the start of a process of ours: what is yielded takes its number. While any lives, this process adopts orphans."""
    with _lock:
        if not _started:
            _adopted[:] = [_adopt_orphans()]
        yield _started.add


def ended(pid: int) -> None:
    """That process of ours is no more, or is let go."""
    with _lock:
        _started.discard(pid)
        if not _started and _adopted == [True]:
            _leave_orphans()


def _adopt_orphans() -> bool:
    """What descends from this process stays below it. Whether that is new."""
    if sys.platform != "linux":
        return False
    library, already = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
    library.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(already), 0, 0, 0)
    return not already.value and library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def _leave_orphans() -> None:
    """As it was before."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children(pid: int) -> list[int]:
    """Of all threads of that process; none where it is gone."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """Without that process itself."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def resident_bytes(pid: int) -> int:
    """Of that process alone; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def tree_bytes(pid: int, limit: int) -> int:
    """Of that process and all below it. What a copy shares with its parent is counted once where that decides about `limit`."""
    own, below = resident_bytes(pid), descendants(pid)
    total = own + sum(map(resident_bytes, below))
    if not below or own > limit or total <= limit:
        return total
    return sum(_share_bytes(one) for one in [pid, *below])


def _share_bytes(pid: int) -> int:
    """Shared pages in equal parts (Pss); resident memory where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resident_bytes(pid)


def kill_below(pid: int) -> None:
    """All that descends from that process. Each is stopped before its children are looked for, so that it makes no others meanwhile."""
    for _ in range(_KILL_ROUNDS):
        below = [one for one in descendants(pid) if _is_alive(one)]
        if not below:
            return
        for one in below:
            _signal(one, signal.SIGSTOP)
        for one in [*below, *descendants(pid)]:
            _signal(one, signal.SIGKILL)


def kill_orphans() -> bool:
    """What workers of this driver have left when they died: its children that carry the mark and that it did not start. Whether there
    were any."""
    with _lock:
        orphans = [one for one in children(os.getpid()) if one not in _started and _is_marked(one)]
    for one in orphans:
        _signal(one, signal.SIGSTOP)
        kill_below(one)
        _signal(one, signal.SIGKILL)
    for one in orphans:
        _reap(one)
    return bool(orphans)


def _reap(pid: int, patience_s: float = 1.0) -> None:
    deadline = time.monotonic() + patience_s
    with suppress(ChildProcessError):
        while not os.waitpid(pid, os.WNOHANG)[0] and time.monotonic() < deadline:
            time.sleep(0.001)


def _is_marked(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return _value.encode() in file.read()
    return False


def _state(pid: int) -> bytes:
    with suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        return file.read().rpartition(b")")[2].split()[0]
    return b""


def _is_dead(pid: int) -> bool:
    return _state(pid) in (b"Z", b"X", b"")


def _is_alive(pid: int) -> bool:
    return not _is_dead(pid)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
