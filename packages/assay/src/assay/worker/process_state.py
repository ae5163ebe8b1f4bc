"""What a job finds its process with, and whether the next one will find the same.

Read after each job, so each reading takes a few microseconds at most: what the kernel tells only in a long text is asked for in a
shorter way. Allocators and globals of native libraries are not seen.
"""

from __future__ import annotations

import _thread
import ctypes
import gc
import locale
import os
import resource
import signal
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from assay.core.wire import Changed
from assay.worker.patched_names import PatchedNames
from assay.worker.process_readings import (
    LIBC,
    caught_in,
    descriptors,
    directory,
    floating_point,
    latencies,
    library_threads,
    monitors,
    open_file,
    open_files,
    read_status,
    stack_of_threads,
    temporary,
    umask,
)
from assay.worker.timing.scheduler_clock import running_time

_native_signal: Any = import_module("_signal")
"""Without the enumerations of `signal`, which take 15 µs for all signals."""
_LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
RELIED_ON = (
    "time", "numpy", "numpy.linalg", "math", "builtins", "os", "json", "struct", "socket", "msgspec", "gc", "shutil",
    "threading", "tempfile", "hashlib",
    "assay.core.wire", "assay.core.packets", "assay.core.result", "assay.core.empty_result", "assay.worker.serve",
    "assay.worker.dispatch", "assay.worker.stages", "assay.worker.driver_connection", "assay.worker.process_state",
    "assay.worker.process_readings",
    "assay.worker.verify.verify", "assay.worker.verify.call_log", "assay.numerics.tolerance.comparator",
)  # fmt: skip
"""Modules whose functions and classes (of the harness: their methods too) are used when a job is timed, compared and answered."""
AT_IMPORT = frozenset((Changed.ENVIRON, Changed.SIGNALS, Changed.DESCRIPTORS, Changed.IMPORT_PATH, Changed.INTERPRETER))
"""What libraries change when they are imported: a variable with the number of their threads, a database that stays open. And threads
of their own kind (`library_threads`), and hooks of the garbage collector."""
_MASKS, _MASKS_END = b"\nSigBlk:", b"\nCapInh:"
"""Signals that are blocked, ignored and caught, in /proc/self/status."""
_PR_GET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_GET_CHILD_SUBREAPER = 2, 3, 37


class ProcessState:
    """As it was when this was made, or when it was last accepted."""

    def __init__(self) -> None:
        tempfile.gettempdir()  # chosen at its first use
        running_time()  # keeps a file open from its first use on
        count_hooks()
        self._status, self._timers, self._oom = map(
            open_file, ("/proc/self/status", "/proc/self/timers", "/proc/self/oom_score_adj")
        )
        self._text = b""
        self._caught = dict[bytes, tuple[bytes, tuple[int, ...]]]()
        self._death, self._adopts = ctypes.c_int(), ctypes.c_int()
        self._death_at, self._adopts_at = ctypes.byref(self._death), ctypes.byref(self._adopts)
        self._environ = EnvironState()
        self._patched = PatchedNames(RELIED_ON)
        self._threads = _thread._count()
        self._readers: tuple[tuple[Changed, Callable[[], Any]], ...] = (
            (Changed.DIRECTORY, directory),
            (Changed.UMASK, umask),
            (Changed.TEMPORARY, temporary),
            (Changed.SIGNALS, self._signals),
            (Changed.TIMER, self._timers_set),
            (Changed.FLOATING_POINT, floating_point),
            (Changed.NUMPY, np.geterr),
            (Changed.LOCALE, lambda: (locale.setlocale(locale.LC_ALL), time.tzname)),
            (Changed.LIMITS, lambda: [resource.getrlimit(limit) for limit in _LIMITS]),
            (Changed.AFFINITY, lambda: os.sched_getaffinity(0)),
            (Changed.PRIORITY, self._priority),
            (Changed.THREADS, lambda: max(_thread._count(), self._threads)),
            (Changed.DESCRIPTORS, descriptors),
            (Changed.STREAMS, lambda: (id(sys.stdout), id(sys.stderr), id(sys.stdin))),
            (Changed.COLLECTOR, lambda: (gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks))),
            (
                Changed.INTERPRETER,
                lambda: (
                    sys.getrecursionlimit(),
                    sys.getswitchinterval(),
                    sys.get_int_max_str_digits(),
                    stack_of_threads(),
                    socket.getdefaulttimeout(),
                ),
            ),
            (Changed.IMPORT_PATH, lambda: (list(sys.path), len(sys.meta_path), len(sys.path_hooks))),
            (Changed.TRACE, lambda: (sys.gettrace(), sys.getprofile(), monitors(), added_hooks())),
            (Changed.DEATH, self._ties),
            (Changed.RESTRICTIONS, lambda: restrictions(self._text)),
        )
        self._reads = [read for _, read in self._readers]
        self._imported = 0
        self._modules = set(sys.modules)
        self._known = [read() for read in self._reads]
        self._open = open_files()

    def changed(self) -> tuple[Changed, ...]:
        """In what it differs."""
        try:
            same = [read() for read in self._reads] == self._known
        except Exception:  # noqa: BLE001  a directory that is gone, no descriptor that is free
            same = False
        changes = [] if same else [what for place, (what, _) in enumerate(self._readers) if self._differs(place)]
        if self._environ.changed():
            changes.append(Changed.ENVIRON)
        if self._patched.changed():
            changes.append(Changed.PATCHED)
        if has_children():
            changes.append(Changed.PROCESSES)
        return tuple(changes)

    def accept_imports(self) -> None:
        """What libraries have brought that were imported since the last look: each later job finds it, too."""
        if len(sys.modules) == self._imported:
            return
        self._accept_collector_hooks()
        self._imported = len(sys.modules)
        for place, (what, read) in enumerate(self._readers):
            if what in AT_IMPORT:
                with suppress(OSError):
                    self._known[place] = read()
        self._environ = EnvironState()
        self._open = open_files()
        self._accept_threads()

    def accept_first_use(self) -> None:
        """What libraries keep from their first use on: a pool of threads, a device, a queue of the kernel. A file is none."""
        self._accept_threads()
        self._accept_collector_hooks()
        self._accept_vendored_paths()
        now = open_files()
        new = {number: kind for number, (*file, kind) in now.items() if self._open.get(number) != (*file, kind)}
        if not any(number < 3 or kind == stat.S_IFREG for number, kind in new.items()):
            with suppress(OSError):
                self._known[self._place(Changed.DESCRIPTORS)] = descriptors()
            self._open = now

    def _accept_threads(self) -> None:
        if _thread._count() <= library_threads():
            self._threads = self._known[self._place(Changed.THREADS)] = _thread._count()

    def _accept_collector_hooks(self) -> None:
        """Those of libraries that were imported since the last look: a function that was there before and adds one is not accepted."""
        *settings, count = self._known[self._place(Changed.COLLECTOR)]
        imported = sys.modules.keys() - self._modules
        if all(getattr(hook, "__module__", None) in imported for hook in gc.callbacks[count:]):
            self._known[self._place(Changed.COLLECTOR)] = (*settings, len(gc.callbacks))
        self._modules = set(sys.modules)

    def _accept_vendored_paths(self) -> None:
        """Folders inside those that are searched already: setuptools has the packages that it brings in one."""
        known, *finders = self._known[self._place(Changed.IMPORT_PATH)]
        added = [path for path in sys.path if path not in known]
        if all(any(path.startswith(f"{prefix}{os.sep}") for prefix in known if prefix) for path in added):
            self._known[self._place(Changed.IMPORT_PATH)] = ([*known, *added], *finders)

    def _place(self, what: Changed) -> int:
        return [reader for reader, _ in self._readers].index(what)

    def _differs(self, place: int) -> bool:
        try:
            return bool(self._reads[place]() != self._known[place])
        except Exception:  # noqa: BLE001  what cannot be read any more has changed
            return True

    def _signals(self) -> object:
        """It reads the text that others use, too. Of a signal that is not caught the masks say all."""
        self._text = text = read_status(self._status)
        begin = text.find(_MASKS)
        masks = text[begin : text.find(_MASKS_END, begin)]
        if (known := self._caught.get(masks)) is None:
            known = self._caught[masks] = caught_in(masks)
        own, caught = known
        return own, [*map(_native_signal.getsignal, caught)]

    def _timers_set(self) -> object:
        posix = os.pread(self._timers, 1, 0) if self._timers >= 0 else b""
        return posix, [_native_signal.getitimer(timer)[0] > 0 for timer in _TIMERS]

    def _priority(self) -> object:
        """Of time, and of being ended where memory is short."""
        ended = os.pread(self._oom, 16, 0) if self._oom >= 0 else b""
        return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), ended, latencies()

    def _ties(self) -> tuple[int, int, int]:
        LIBC.prctl(_PR_GET_PDEATHSIG, self._death_at, 0, 0, 0)
        LIBC.prctl(_PR_GET_CHILD_SUBREAPER, self._adopts_at, 0, 0, 0)
        return self._death.value, self._adopts.value, LIBC.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)


def has_children() -> bool:
    """Whether any child of this process lives. Those that have ended are forgotten."""
    while True:
        try:
            child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            return False
        if child is None:
            return True


_OWNER, _OWNER_END = b"\nUid:", b"\nFDSize:"
_RIGHTS, _RIGHTS_END = b"\nCapInh:", b"\nCpus_allowed:"
"""Of proc_pid_status(5): its user and groups; its capabilities, no_new_privs and the number of its filters."""


def restrictions(status: bytes) -> tuple[bytes, bytes]:
    """What a process has denied itself, and can never have back: system calls and rights. `status` is the text of /proc/self/status.
    Landlock is refused by `assay.worker.guard`."""
    owner, rights = status.find(_OWNER), status.find(_RIGHTS)
    return status[owner : status.find(_OWNER_END, owner)], status[rights : status.find(_RIGHTS_END, rights)]


_added: list[None] = []


def _hear(event: str, _: tuple[Any, ...]) -> None:
    if event == "sys.addaudithook":
        _added.append(None)


def count_hooks() -> None:
    """Audit hooks, from here on: none can be taken away, and nothing shows them. But each that is there is told of the next one (PEP
    578), whether it comes from Python or from C."""
    sys.addaudithook(_hear)


def added_hooks() -> int:
    """How many have been added since they are counted."""
    return len(_added)


class EnvironState:
    """The variables of this process, Python's view of them and that of the C library, which Python does not see: as they were when this
    was made, or when `changed` last said that they differ."""

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
        texts: list[bytes] = []
        while self._place() and (text := self._pointer[len(texts)]) is not None:
            texts.append(text)
        return texts

    def changed(self) -> bool:
        """Whether any was added, removed or given another value."""
        if self._data() != self._python:
            return True
        if self._place() == self._address and self._slots(len(self._texts)) == self._raw:
            return False
        before = sorted(self._texts)
        self._read()
        return sorted(self._texts) != before
