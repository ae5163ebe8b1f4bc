"""What a process is like now, each reading in a few microseconds: see `process_state`."""

from __future__ import annotations

import _thread
import ctypes
import os
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_monitoring: Any = getattr(sys, "monitoring", None)
_NUMBERS = tuple(number for number in range(1, 32) if number not in (signal.SIGKILL, signal.SIGSTOP))
_ONE, _THREE, _SMALL, _SUBNORMAL = 1.0, 3.0, 3e-308, 5e-324
_PR_GET_TIMERSLACK = 30
_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}.get(os.uname().machine, 0)
LIBC = ctypes.CDLL(None)
_trapped: Callable[[], int] = getattr(LIBC, "fegetexcept", None) or (lambda: 0)
with suppress(OSError):
    _trapped = getattr(ctypes.CDLL("libm.so.6"), "fegetexcept", _trapped)


def latencies() -> tuple[int, int]:
    """How long it is kept waiting by the disk and by a timer."""
    files = LIBC.syscall(_IOPRIO_GET, 1, 0) if _IOPRIO_GET else 0
    return files, LIBC.prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)


def stack_of_threads() -> int:
    """Asking for it sets it to 0, the system's own."""
    if size := _thread.stack_size():
        _thread.stack_size(size)
    return size


def temporary() -> tuple[object, ...]:
    """The folder for temporary files, by its name and number."""
    status = os.stat(tempfile.tempdir or ".")
    return tempfile.tempdir, status.st_dev, status.st_ino


def monitors() -> tuple[object, ...]:
    """Tools that are told what runs (Python 3.12)."""
    return tuple(map(_monitoring.get_tool, range(6))) if _monitoring is not None else ()


def open_file(path: str) -> int:
    """-1 where the system has no such file."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def read_status(status: int) -> bytes:
    try:
        return os.pread(status, 8192, 0) if status >= 0 else b""
    except OSError:
        return b""


_OF_THREADS = 0b11 << 31
"""Signals 32 and 33: the C library catches them itself, from the first thread on, and lets nobody else have them (nptl(7))."""


def caught_in(masks: bytes) -> tuple[bytes, tuple[int, ...]]:
    """The masks without the C library's own signals, and the last one's signals, in hexadecimal digits; all where the system does not
    tell."""
    others, tab, last = masks.rpartition(b"\t")
    mask = int(last or b"-1", 16) & ~_OF_THREADS
    return others + tab + b"%x" % mask, tuple(number for number in _NUMBERS if mask >> number - 1 & 1)


def library_threads() -> int:
    """Threads that are of a library's own type, or of a pool that waits for work; a plain thread with a function of somebody is none."""
    count = 0
    for thread in threading.enumerate():
        target = getattr(thread, "_target", None)
        pooled = str(getattr(target, "__module__", "")).startswith("concurrent.futures.")
        own = type(thread) is not threading.Thread and type(thread).__module__ not in ("threading", "__main__")
        count += own or pooled
    return count


def open_files() -> dict[int, tuple[int, int, int]]:
    """Which file each number is, and its kind; the folder that is read for it apart."""
    files: dict[int, tuple[int, int, int]] = {}
    with suppress(Exception):  # an audit hook of the backend may refuse it
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                status = os.fstat(int(name))
                files[int(name)] = status.st_dev, status.st_ino, stat.S_IFMT(status.st_mode)
    return files


def directory() -> tuple[int, int]:
    status = os.stat(".")
    return status.st_dev, status.st_ino if status.st_nlink else -1


def umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def floating_point() -> tuple[object, ...]:
    """Seen by its results, so that no processor has to be known: rounding of a sum both ways, subnormal results and operands. And
    which exceptions end the process."""
    tiny = 2.0**-54 * _ONE
    return (
        _ONE + tiny == _ONE,
        _ONE - tiny / 2 == _ONE,
        -_ONE - tiny == -_ONE,
        _SMALL / _THREE == 0.0,
        _SUBNORMAL * _ONE == 0.0,
        _trapped(),
    )


def descriptors() -> tuple[object, ...]:
    """How many there are (Linux 6.2), the lowest that is free, which is another one where one was opened below it or closed, and what the
    standard ones are."""
    free = os.dup(2)
    os.close(free)
    standard = [os.fstat(descriptor) for descriptor in range(3)]
    return count_of_open(), free, *((file_stat.st_dev, file_stat.st_ino) for file_stat in standard)


def count_of_open() -> int:
    try:
        return os.stat("/proc/self/fd").st_size
    except OSError:
        return 0
