"""Resident memory of this process, read where the kernel keeps it."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


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


def _field(name: str) -> int:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0
