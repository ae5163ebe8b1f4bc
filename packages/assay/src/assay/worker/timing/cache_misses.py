"""Misses of the last cache in one call, where the kernel counts them (perf_event_open(2))."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Callable

from assay.core.measurement import CacheMisses

CALLS = 5
_NUMBERS = {"x86_64": 298, "aarch64": 241}
"""Of the system call, by the machine's architecture."""
_HARDWARE, _CACHE_MISSES = 0, 3
_ATTRIBUTES_BYTES = 64
"""PERF_ATTR_SIZE_VER0: kernels of any age take it."""
_DISABLED, _INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_ENABLE, _DISABLE = 0x2400, 0x2401


def cache_misses(call: Callable[[], object]) -> CacheMisses:
    """The mean of five calls, in this thread and in those that it starts meanwhile: an engine on one thread. `errno` says why nothing
    is counted."""
    counter, why = _opened()
    if why:
        return CacheMisses(errno=why)
    try:
        fcntl.ioctl(counter, _ENABLE)
        for _ in range(CALLS):
            call()
        fcntl.ioctl(counter, _DISABLE)
        (misses,) = struct.unpack("Q", os.read(counter, 8))
    except OSError as error:
        return CacheMisses(errno=error.errno or errno.EIO)
    finally:
        os.close(counter)
    return CacheMisses(misses / CALLS)


def _opened() -> tuple[int, int]:
    """A descriptor, or why there is none."""
    number = _NUMBERS.get(platform.machine())
    if number is None or os.name != "posix" or platform.system() != "Linux":
        return -1, errno.ENOSYS
    flags = _DISABLED | _INHERIT | _NO_KERNEL | _NO_HYPERVISOR
    head = struct.pack("IIQQQQQ", _HARDWARE, _ATTRIBUTES_BYTES, _CACHE_MISSES, 0, 0, 0, flags)
    attributes = ctypes.create_string_buffer(head.ljust(_ATTRIBUTES_BYTES, b"\0"), _ATTRIBUTES_BYTES)
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = int(library.syscall(number, attributes, 0, -1, -1, 0))
    return (descriptor, 0) if descriptor >= 0 else (-1, ctypes.get_errno() or errno.EIO)
