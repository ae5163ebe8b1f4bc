"""What a job finds its process with, and whether the next one will find the same.

Read after each job, so each reading takes a few microseconds at most: what the kernel tells only in a long text is asked for in a
shorter way. Allocators and globals of native libraries are not seen.
"""

from __future__ import annotations

import _thread
import builtins
import ctypes
import gc
import locale
import math
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from assay.core.wire import Changed

_native_signal: Any = import_module("_signal")
"""Without the enumerations of `signal`, which take 15 µs for all signals."""
_NUMBERS = tuple(number for number in range(1, 32) if number not in (signal.SIGKILL, signal.SIGSTOP))
_LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_MODULES: tuple[ModuleType, ...] = (time, np, np.linalg, math, builtins, os)
"""Whose functions the harness relies on when it times, compares and writes."""
BY_IMPORTS = frozenset(
    (Changed.ENVIRON, Changed.SIGNALS, Changed.THREADS, Changed.DESCRIPTORS, Changed.IMPORT_PATH, Changed.RECURSION)
)
"""What libraries do when they are imported or used for the first time: a variable with the number of their threads, a pool of
threads, a device that stays open."""
_ONE, _THREE, _SMALL, _SUBNORMAL = 1.0, 3.0, 3e-308, 5e-324
_MASKS = slice(32 - 3, 35 - 3)
"""Signals that are blocked, ignored and caught: fields 32 to 34 of /proc/self/stat (proc(5)), where the state, field 3, comes first
behind the name."""


class ProcessState:
    """As it was when this was made, or when it was last accepted."""

    def __init__(self) -> None:
        tempfile.gettempdir()  # chosen at its first use
        self._stat = os.open("/proc/self/stat", os.O_RDONLY | os.O_CLOEXEC) if os.path.exists("/proc/self/stat") else -1
        self._environ = _Environ()
        self._modules = [(module, list(vars(module).values())) for module in _MODULES]
        self._names = [dict(vars(module)) for module in _MODULES]
        self._readers: tuple[tuple[Changed, Callable[[], Any]], ...] = (
            (Changed.DIRECTORY, _directory),
            (Changed.UMASK, _umask),
            (Changed.TEMPORARY, lambda: tempfile.tempdir),
            (Changed.SIGNALS, self._signals),
            (Changed.TIMER, lambda: [_native_signal.getitimer(one)[0] > 0 for one in _TIMERS]),
            (Changed.FLOATING_POINT, _floating_point),
            (Changed.NUMPY, np.geterr),
            (Changed.LOCALE, lambda: locale.setlocale(locale.LC_ALL)),
            (Changed.LIMITS, lambda: [resource.getrlimit(one) for one in _LIMITS]),
            (Changed.AFFINITY, lambda: os.sched_getaffinity(0)),
            (Changed.PRIORITY, lambda: (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0))),
            (Changed.THREADS, _thread._count),
            (Changed.DESCRIPTORS, _descriptors),
            (Changed.STREAMS, lambda: (id(sys.stdout), id(sys.stderr), id(sys.stdin))),
            (Changed.COLLECTOR, lambda: (gc.isenabled(), gc.get_threshold())),
            (Changed.RECURSION, sys.getrecursionlimit),
            (Changed.IMPORT_PATH, lambda: list(sys.path)),
            (Changed.TRACE, lambda: (sys.gettrace(), sys.getprofile())),
        )
        self._imported = 0
        self._known = [read() for _, read in self._readers]

    def changed(self) -> tuple[Changed, ...]:
        """In what it differs."""
        found = [what for (what, read), known in zip(self._readers, self._known, strict=True) if _differs(read, known)]
        if self._environ.changed():
            found.append(Changed.ENVIRON)
        if any(map(self._patched, range(len(_MODULES)))):
            found.append(Changed.PATCHED)
        if has_children():
            found.append(Changed.PROCESSES)
        return tuple(found)

    def accept_imports(self, *, first_use: bool = False) -> None:
        """What libraries have brought that were imported since the last look, or used for the first time: each later job finds it,
        too (BY_IMPORTS)."""
        if len(sys.modules) == self._imported and not first_use:
            return
        self._imported = len(sys.modules)
        for place, (what, read) in enumerate(self._readers):
            if what in BY_IMPORTS:
                with suppress(OSError):
                    self._known[place] = read()
        self._environ = _Environ()

    def _signals(self) -> object:
        masks = b""
        if self._stat >= 0:
            with suppress(OSError):
                fields = os.pread(self._stat, 1024, 0).rpartition(b")")[2].split()
                masks = b" ".join(fields[_MASKS])
        return masks, [_native_signal.getsignal(one) for one in _NUMBERS]

    def _patched(self, place: int) -> bool:
        """What a module has besides is no patch: numpy imports some of its parts when they are asked for."""
        module, values = self._modules[place]
        with suppress(Exception):
            if list(vars(module).values()) == values:
                return False
        now, known = vars(module), self._names[place]
        if any(now.get(name) is not value for name, value in known.items()):
            return True
        self._modules[place], self._names[place] = (module, list(now.values())), dict(now)
        return False


def _differs(read: Callable[[], Any], known: Any) -> bool:
    try:
        return bool(read() != known)
    except OSError:
        return True


def _directory() -> tuple[int, int]:
    found = os.stat(".")
    return found.st_dev, found.st_ino if found.st_nlink else -1


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _floating_point() -> tuple[bool, ...]:
    """Seen by its results, so that no processor has to be known: rounding of a sum both ways, subnormal results and operands."""
    tiny = 2.0**-54 * _ONE
    return (
        _ONE + tiny == _ONE,
        _ONE - tiny / 2 == _ONE,
        -_ONE - tiny == -_ONE,
        _SMALL / _THREE == 0.0,
        _SUBNORMAL * _ONE == 0.0,
    )


def _descriptors() -> tuple[object, ...]:
    """The lowest that is free, which is another one where one was opened below it or closed; and what the standard ones are."""
    free = os.dup(2)
    os.close(free)
    standard = [os.fstat(one) for one in range(3)]
    return free, *((one.st_dev, one.st_ino) for one in standard)


def has_children() -> bool:
    """Whether any child of this process lives. Those that have ended are forgotten."""
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            return False
        if found is None:
            return True


class _Environ:
    """Python's view, and the one of the C library, which Python does not see."""

    def __init__(self) -> None:
        self._python = dict(self._data())
        self._pointer = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        self._read()

    @staticmethod
    def _data() -> dict[bytes, bytes]:
        """Undecoded: os.environ itself takes 20 µs to compare."""
        return os.environ._data  # type: ignore[attr-defined, no-any-return]

    def _read(self) -> None:
        self._texts = self._all()
        self._address, self._raw = self._place(), self._slots(len(self._texts))

    def _place(self) -> int:
        return ctypes.cast(self._pointer, ctypes.c_void_p).value or 0

    def _slots(self, count: int) -> bytes:
        return ctypes.string_at(self._place(), 8 * (count + 1)) if self._place() else b""

    def _all(self) -> list[bytes]:
        found: list[bytes] = []
        while self._place() and (text := self._pointer[len(found)]) is not None:
            found.append(text)
        return found

    def changed(self) -> bool:
        if self._data() != self._python:
            return True
        if self._place() == self._address and self._slots(len(self._texts)) == self._raw:
            return False
        before = sorted(self._texts)
        self._read()
        return sorted(self._texts) != before
