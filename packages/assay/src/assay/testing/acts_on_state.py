"""Acts of a backend on what the next job of its process would find."""

from __future__ import annotations

import builtins
import ctypes
import gc
import locale
import os
import platform
import resource
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np

_held: list[object] = []


def chdir() -> None:
    """Changes the working directory."""
    os.chdir("/")


def directory_gone() -> None:
    """Changes into a folder, which is then removed."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def umask() -> None:
    """Nobody else may read what is written next."""
    os.umask(0o057)


def environ() -> None:
    """Sets the number of threads, as libraries do."""
    os.environ["OMP_NUM_THREADS"] = "3"


def environ_cleared() -> None:
    """Clears the environment."""
    os.environ.clear()


def native_environ() -> None:
    """Python's own view does not show it."""
    ctypes.CDLL(None).setenv(b"TZ", b"Asia/Tokyo", 1)


def tempdir() -> None:
    """Changes the folder of all later temporary files."""
    tempfile.tempdir = "/"


def signal_handler() -> None:
    """Of Python."""
    signal.signal(signal.SIGUSR2, lambda *_: None)


def native_signal_handler() -> None:
    """Python's own view does not show it."""
    ctypes.CDLL(None).signal(int(signal.SIGUSR1), ctypes.c_void_p(1))


def signal_mask() -> None:
    """Of the thread that does the jobs."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])


def timer() -> None:
    """It will ring in another job."""
    signal.setitimer(signal.ITIMER_REAL, 3600)


def rounding() -> None:
    """Makes arithmetic round upwards."""
    mode = {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()]
    assert ctypes.CDLL("libm.so.6").fesetround(mode) == 0


def flush_to_zero() -> None:
    """As a library that was compiled with -ffast-math does when it is loaded."""
    libm, state = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 16)()
    libm.fegetenv(state)
    if platform.machine() == "x86_64":
        state[7] |= 0x8040  # MXCSR: flush to zero, denormals are zero
    else:
        state[0] |= 1 << 24  # FPCR.FZ
    libm.fesetenv(state)


def numpy_errors() -> None:
    """Division by zero in a later job would raise."""
    np.seterr(all="ignore")


def locale_() -> None:
    """Another one; "C" and "C.UTF-8" are everywhere."""
    locale.setlocale(locale.LC_ALL, "C" if locale.setlocale(locale.LC_CTYPE) != "C" else "C.UTF-8")


def resource_limit() -> None:
    """Of open files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))


def nice() -> None:
    """All later jobs would be slow."""
    os.nice(5)


def affinity() -> None:
    """One core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def thread() -> None:
    """It lives on."""
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


def descriptor() -> None:
    """Of a file that was opened and forgotten."""
    _held.append(os.open(__file__, os.O_RDONLY))


def standard_output_replaced() -> None:
    """What later jobs print would be lost."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def streams_gone() -> None:
    """As pythonw does."""
    sys.stdout = sys.stderr = None


def streams_closed() -> None:
    """As a daemon does."""
    for descriptor in (0, 1, 2):
        with suppress(OSError):  # it may be built twice
            os.close(descriptor)


def clock_patched() -> None:
    """It stands still."""
    _patch(time, "perf_counter", lambda: 7.0)


def numpy_patched() -> None:
    """As some compilers wrap functions that they trace."""
    plain = np.multiply
    _patch(np, "multiply", lambda *arguments, **named: plain(*arguments, **named))


def builtin_patched() -> None:
    """As some loggers do."""
    plain = builtins.print
    _patch(builtins, "print", lambda *arguments, **named: plain(*arguments, **named))


def _patch(module: Any, name: str, function: object) -> None:
    setattr(module, name, function)


def garbage_collector() -> None:
    """Turns the garbage collector off."""
    gc.disable()


def recursion_limit() -> None:
    """Allows recursion far too deep."""
    sys.setrecursionlimit(1_000_000)


def import_path() -> None:
    """Modules of this folder would hide those of others."""
    sys.path.insert(0, "/nowhere")


def trace() -> None:
    """Everything is slow from here on."""
    sys.setprofile(lambda *_: None)


def temporary_files() -> None:
    """Where temporary files lie, by Python and by a variable."""
    descriptor, _ = tempfile.mkstemp(prefix="assay-act-")
    os.close(descriptor)
    folder = tempfile.mkdtemp(prefix="assay-act-")
    with open(f"{folder}/file", "w") as file:
        file.write("left")
    os.chmod(folder, 0o500)
    with open(f"{os.environ.get('TMPDIR', '/tmp')}/assay-act-native-{os.getpid()}", "w") as file:
        file.write("left")
