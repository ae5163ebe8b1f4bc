"""Resident memory of this process, read where the kernel keeps it."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""malloc.h's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD."""
READINGS = 25
LEAST_READINGS, LONGEST_SOAK = 8, 4
"""Where several sizes take turns: readings, and how many times the seconds that were asked for they may take to be more than that."""


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


class _Mallinfo2(ctypes.Structure):
    """mallinfo(3), of all arenas."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


class Soak(NamedTuple):
    """After so many calls each: resident bytes, those that the allocator holds, and those of them that are in use (both 0 where it does
    not tell)."""

    calls: list[int]
    resident: list[int]
    held: list[int]
    live: list[int]


def allocator_bytes() -> tuple[int, int]:
    """What glibc's malloc has taken from the system, and what of it is in use; (0, 0) of another allocator. The free end of its heap is
    left out: it could be given back, and is kept because we asked for that."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return 0, 0
    ask.restype = _Mallinfo2
    usage = ask()
    return usage.arena + usage.hblkhd - usage.keepcost, usage.uordblks + usage.hblkhd


def soak(calls: Sequence[Callable[[], object]], seconds: float, readings: int = READINGS) -> Soak:
    """Make the calls by turns, and read at equal distances in time: what a leak, or sizes that leave holes, makes grow. At each reading
    every call has had its turn as often. Several that take longer than that together are read less often. Nothing is kept between the
    calls but these few numbers."""
    soaked = Soak([], [], [], [])
    done, begin = 0, time.perf_counter()

    def turn() -> None:
        for call in calls:
            call()

    if len(calls) > 1:
        turn()
        done += len(calls)
        affordable = int(LONGEST_SOAK * seconds / (time.perf_counter() - begin))
        readings = max(LEAST_READINGS, min(readings, affordable))
    for reading in range(1, readings + 1):
        turn()
        done += len(calls)
        while time.perf_counter() - begin < seconds * reading / readings:
            turn()
            done += len(calls)
        held, live = allocator_bytes()
        for kept, value in zip(soaked, (done, resident_bytes(), held, live), strict=True):
            kept.append(value)
    return soaked


def _field(name: str) -> int:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0
