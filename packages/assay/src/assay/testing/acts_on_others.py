"""Acts of a backend on the processes around it: its driver, and the workers beside it."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from contextlib import suppress

_PTRACE_ATTACH = 16
_ADJ_TICK = 0x4000


def _workers_beside() -> list[int]:
    pids: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{os.getppid()}/task"):
            with open(f"/proc/{os.getppid()}/task/{thread}/children") as file:
                pids += map(int, file.read().split())
    return [pid for pid in pids if pid != os.getpid()]


def stops_driver() -> None:
    """Whoever waits for it waits for ever."""
    os.kill(os.getppid(), signal.SIGSTOP)


def kills_driver() -> None:
    """As a script that ends "the whole program"."""
    os.kill(os.getppid(), signal.SIGKILL)


def terminates_group_of_driver() -> None:
    """And the shell that it was started from."""
    os.killpg(os.getpgid(os.getppid()), signal.SIGTERM)


def signals_everybody() -> None:
    """All that this user may signal."""
    os.kill(-1, signal.SIGCONT)


def stops_workers_beside() -> None:
    """Each would be blamed for not answering."""
    for pid in _workers_beside():
        with suppress(OSError):
            os.kill(pid, signal.SIGSTOP)


def kills_workers_beside() -> None:
    """Each would be blamed for a crash."""
    for pid in _workers_beside():
        with suppress(OSError):
            os.kill(pid, signal.SIGSEGV)


def traces_driver() -> None:
    """As a debugger, which stops it."""
    if ctypes.CDLL(None, use_errno=True).ptrace(_PTRACE_ATTACH, os.getppid(), None, None):
        raise OSError(ctypes.get_errno(), "not to be traced")


def limits_driver() -> None:
    """It could open no other file."""
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (8, 8))


def slows_driver() -> None:
    """Everything else comes first."""
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)


def sets_clock() -> None:
    """To a rate that no machine has: where nobody refuses it, nothing happens."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.adjtimex(ctypes.create_string_buffer(struct.pack("=I", _ADJ_TICK), 512)) < 0:
        raise OSError(ctypes.get_errno(), "not to be set")
