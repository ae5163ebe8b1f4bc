"""A process and all that descends from it, and its end. Also what has left its session, and what has lost its parent.

A worker adopts the orphans below it (`worker/__main__.py`). When it has died, the driver adopts what is left, if it may, and knows it by
a variable that all workers of this driver are started with, by the session, or by a hard limit (`launch/hard_limit.py`).
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from assay.launch import hard_limit

MARK = "_ASSAY_WORKER_OF"
"""Not one of ASSAY_*: those are part of what an artifact is kept under."""
_lock = threading.Lock()
_started: dict[int, int] = {}
"""Processes of ours, with the thread that started each, by the kernel's numbers."""
_adopted = [False]
_doomed: dict[int, bytes] = {}
"""Processes that were killed here, by their number, and when they began: those that become children of this process are reaped."""
_sessions: dict[bytes, bytes] = {}
"""Of all workers that were started here, and when each began: its number may become that of another."""
_STATE, _SESSION, _BORN = 0, 3, 19
_NONE, _UNKNOWN = "0", "unknown"
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_KILL_ROUNDS = 50
"""Of looking for processes that were made while others were being ended."""


def born(pid: int) -> str:
    """When that process began, in the kernel's own unit: with its number, its name for ever. "0" where there is none."""
    return _field(pid, _BORN).decode() or _NONE


@cache
def own_name() -> str:
    """Of this process, among all on all machines that may share a folder: number, beginning, and where both count."""
    begun = born(os.getpid())
    return f"{os.getpid()}-{begun}-{_here() if begun != _NONE else _UNKNOWN}"


@cache
def _here() -> str:
    """The namespace of process numbers, and the boot of the machine."""
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id") as file:
        if _has_own_numbers():
            return f"{os.stat('/proc/self/ns/pid').st_ino:x}{file.read(8)}"
    return _UNKNOWN


@cache
def _has_own_numbers() -> bool:
    """Whether /proc counts processes as this one does: in a namespace of its own that has kept the outer /proc, it does not."""
    with suppress(OSError):
        return os.readlink("/proc/self") == str(os.getpid())
    return False


def is_gone(name: str) -> bool:
    """Whether that process has ended. False for one that belongs elsewhere, or of which nothing can be read."""
    parts = name.split("-")
    if len(parts) != 3 or not parts[0].isdigit() or parts[2] != _here() or parts[2] == _UNKNOWN:
        return False
    now = born(int(parts[0]))
    return now != parts[1] if now != _NONE else not _exists(int(parts[0]))


def _exists(pid: int) -> bool:
    """Also where nothing of it is shown here."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@cache
def _mark() -> str:
    return f"{own_name()}-{secrets.token_hex(8)}"


def drivers_of(pid: int) -> list[str]:
    """The name of each driver that it was started below."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        for variable in file.read().split(b"\0"):
            if variable.startswith(f"{MARK}=".encode()):
                return [part.rpartition("-")[0] for part in variable.decode(errors="replace").partition("=")[2].split()]
    return []


def marked(variables: dict[str, str]) -> dict[str, str]:
    """Those of a process that is known as ours later."""
    return {**variables, MARK: f"{os.environ.get(MARK, '')} {_mark()}"}


@contextmanager
def starting() -> Iterator[Callable[[int], None]]:
    """Around the start of a process of ours: what is yielded takes its number. While any lives, this process adopts orphans."""
    with _lock:
        if not _started:
            _adopted[:] = [_adopt_orphans()]
        yield _know


def _know(pid: int) -> None:
    _started[pid] = threading.get_native_id()
    hard_limit.mark(pid)
    _sessions[str(pid).encode()] = _field(pid, _BORN)


def ended(pid: int) -> None:
    """That process of ours is no more, or is let go."""
    with _lock:
        _started.pop(pid, None)
        if not _started and _adopted == [True]:
            _leave_orphans()


def _forget() -> None:
    """In a copy of this process: it is another driver, and has started nothing."""
    global _lock
    _lock = threading.Lock()
    for known in (_started, _doomed, _sessions):
        known.clear()
    _adopted[:] = [False]
    own_name.cache_clear()
    _mark.cache_clear()


os.register_at_fork(after_in_child=_forget)


def _adopt_orphans() -> bool:
    """What descends from this process stays below it. Whether that is new."""
    if sys.platform != "linux":
        return False
    library, already = ctypes.CDLL(None, use_errno=True), ctypes.c_int()
    library.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(already), 0, 0, 0)
    return not already.value and library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def _leave_orphans() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children(pid: int) -> list[int]:
    """Of all threads of that process; none where it is gone, or where /proc tells of other processes."""
    with suppress(OSError):
        return _children_of(pid, map(int, os.listdir(f"/proc/{pid}/task")))
    return []


def _children_of(pid: int, threads: Iterable[int]) -> list[int]:
    pids: list[int] = []
    for thread in threads if _has_own_numbers() else ():
        with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
            pids += map(int, file.read().split())
    return pids


def _may_be_orphans() -> list[int]:
    """Children of the first thread, to which the kernel gives orphans, and of those that start workers. A driver may have many other
    threads, and is asked fifty times a second."""
    threads = {os.getpid(), threading.get_native_id(), *_started.values()}
    return [pid for pid in reversed(_children_of(os.getpid(), threads)) if pid not in _started]


def descendants(pid: int) -> list[int]:
    """Without that process itself."""
    pids: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        pids += below
        waiting += below
    return pids


def kill_below(pid: int) -> None:
    """All that descends from that process, also one that flees: that forks and ends again and again."""
    for _ in range(_KILL_ROUNDS):
        below = _stop_below(pid)
        now = descendants(pid)
        if all(is_dead(process) for process in {*below, *now}):
            return
        for process in {*below, *now}:
            kill(process)


def _stop_below(pid: int) -> list[int]:
    """Each at once, the youngest first, and before its children are looked for: it makes no others meanwhile."""
    pids: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        for child in reversed(below):
            _signal(child, signal.SIGSTOP)
        pids += below
        waiting += below
    return pids


def kill_orphans() -> bool:
    """What workers of this driver have left when they died: its children that carry the mark, or a worker's session, and that it did not
    start. Whether there were any."""
    any_killed = False
    for _ in range(_KILL_ROUNDS):
        with _lock:
            orphans = [orphan for orphan in _may_be_orphans() if _is_of_a_worker(orphan)]
        living = [orphan for orphan in orphans if not is_dead(orphan)]
        for survivor in living:
            _signal(survivor, signal.SIGSTOP)
        for orphan in orphans:
            kill_below(orphan)
            kill(orphan)
        any_killed = any_killed or bool(orphans)
        if not living:
            break
    reap()
    return any_killed


def reap(patience_s: float = 0.0) -> None:
    """What was killed and has become a child of this process. Waits at most so long for those that have not ended."""
    deadline = time.monotonic() + patience_s
    while True:
        for pid, born in list(_doomed.items()):
            if born != _field(pid, _BORN) or _is_reaped(pid):
                _doomed.pop(pid, None)
        if not _doomed or time.monotonic() >= deadline:
            return
        time.sleep(0.001)


def _is_reaped(pid: int) -> bool:
    """False where it has not ended, or is the child of another, who reaps it."""
    with suppress(ChildProcessError):
        return has_exited(pid) and bool(os.waitpid(pid, os.WNOHANG)[0])
    return False


def kill(pid: int) -> None:
    """Where it becomes a child of this process, `reap` knows it."""
    born = _field(pid, _BORN)
    if born:
        _doomed[pid] = born
        _signal(pid, signal.SIGKILL)


def _is_of_a_worker(pid: int) -> bool:
    """One that has ended shows no variables, but its session. That number is the worker's while nothing that began later has it."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        if _mark().encode() in file.read():
            return True
    if hard_limit.is_marked(pid):
        return True
    session = _field(pid, _SESSION)
    return session in _sessions and (_field(int(session), _BORN) or _sessions[session]) == _sessions[session]


def _field(pid: int, place: int) -> bytes:
    """Of /proc/PID/stat (proc(5)), counted from the state; b"" where it is gone."""
    with suppress(OSError, IndexError), open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        return file.read().rpartition(b")")[2].split()[place]
    return b""


def has_exited(child: int) -> bool:
    """Whether that child of this process has ended, or is none (any more). wait(2) tells a tracer of each stop, too: that is no end."""
    try:
        exited = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return exited is not None and exited.si_code in (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)


def is_dead(pid: int) -> bool:
    """Whether it has ended, reaped or not."""
    return _field(pid, _STATE) in (b"Z", b"X", b"")


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped it."""
    return _field(pid, _STATE) == b"T"


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
