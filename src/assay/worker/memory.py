"""Resident memory of this process, read where the kernel keeps it."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
READINGS = 25


def peak_bytes() -> int:
    """VmHWM since the last `reset_peak`; 0 where the system does not tell. Never ru_maxrss: it is inherited over exec
    and cannot be reset."""
    return _field("VmHWM:")


def resident_bytes() -> int:
    """VmRSS now; 0 where the system does not tell."""
    return _field("VmRSS:")


def reset_peak() -> bool:
    """Give freed memory back and start the peak anew (proc(5): 5 resets the high-water mark). False if not possible."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text("5")
    except (OSError, AttributeError):
        return False
    return True


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
