"""Resident memory of this process, read where the kernel keeps it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""malloc.h's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD."""
READINGS = 25


def peak_bytes() -> int:
    """VmHWM since the last `reset_peak`; 0 where the system does not tell. Never ru_maxrss: it is inherited over exec
    and cannot be reset."""
    return _field("VmHWM:")


def resident_bytes() -> int:
    """VmRSS now; 0 where the system does not tell."""
    return _field("VmRSS:")


def reset_peak() -> bool:
    """Give freed memory back and restart the peak (proc(5): 5 resets the high-water mark). False if not possible."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text("5")
    except (OSError, AttributeError):
        return False
    return True


@contextmanager
def freed_at_once() -> Iterator[None]:
    """Meanwhile glibc gives large buffers back when they are freed, so that a peak is what was held at one time. By itself it
    keeps some, depending on what was freed before: loading one engine took 12 or 29 MB. Afterwards it keeps what it comes
    to keep in any process that has freed large buffers (mallopt(3))."""
    _mallopt((_MMAP_THRESHOLD, 2**17))
    try:
        yield
    finally:
        _mallopt((_MMAP_THRESHOLD, 2**25), (_TRIM_THRESHOLD, 2**26))


def _mallopt(*settings: tuple[int, int]) -> None:
    with contextlib.suppress(OSError, AttributeError):  # another C library
        library = ctypes.CDLL(None)
        for setting in settings:
            library.mallopt(*setting)


def soak(call: Callable[[], object], seconds: float, readings: int = READINGS) -> tuple[list[int], list[int]]:
    """Resident bytes after so many calls, read at equal distances in time: what a leak makes grow. Nothing is kept
    between the calls but these few numbers."""
    calls: list[int] = []
    resident: list[int] = []
    done, begin = 0, time.perf_counter()
    for reading in range(1, readings + 1):
        call()
        done += 1
        while time.perf_counter() - begin < seconds * reading / readings:
            call()
            done += 1
        calls.append(done)
        resident.append(resident_bytes())
    return calls, resident


def _field(name: str) -> int:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0
