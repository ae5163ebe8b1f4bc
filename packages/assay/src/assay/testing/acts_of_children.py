"""Acts of a backend by processes that it starts: those that flee, that turn against it, that hide, that are no children of it."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress

_held: list[object] = []
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT = 0x8000
_PR_SET_CHILD_SUBREAPER = 36


def _sleep() -> None:
    while True:
        time.sleep(3600)


def fleeing_process() -> None:
    """It forks and ends, again and again, each in a session of its own: whoever finds one finds none."""
    if os.fork():
        time.sleep(0.1)
        return
    end = time.monotonic() + 100.0
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(0.002)
    os._exit(0)


def nameless_process() -> None:
    """Without a variable, in a session of its own."""
    code = "import time; time.sleep(3600)"
    _held.append(subprocess.Popen([sys.executable, "-c", code, os.environ["TMPDIR"]], env={}, start_new_session=True))


def nameless_process_and_exit() -> None:
    """The same, and the worker ends at once: nobody has seen it below it."""
    if not os.fork():
        os.setsid()
        code = "import time; time.sleep(3600)"
        os.execve(sys.executable, [sys.executable, "-c", code, os.environ["TMPDIR"]], {})
    time.sleep(0.3)
    os._exit(4)


def process_beside_it() -> None:
    """Starts a process whose parent is the driver (clone with CLONE_PARENT)."""
    if not ctypes.CDLL(None).syscall(_CLONE[platform.machine()], _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0):
        _sleep()


def adopts_nobody() -> None:
    """Gives up adoption: what the worker starts and leaves would no longer be its descendant."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def leaves_process_to_driver() -> None:
    """The worker adopts nobody and leaves a grandchild whose parent has ended."""
    adopts_nobody()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    _sleep()


def leaves_stray_process() -> None:
    """The same, in a session of its own, without a variable and, where it may be raised, without the worker's hard limit."""
    adopts_nobody()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(3600)", os.environ["TMPDIR"]], {})


def traced_by_driver() -> None:
    """Lets the driver trace the worker: each stop of the worker would look to the driver like its end."""
    if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, None, None):
        raise OSError(ctypes.get_errno(), "not to be traced")
    os.kill(os.getpid(), signal.SIGUSR1)


def child_stops_it() -> None:
    """A child stops the worker. From outside it looks as if somebody else had done it."""
    if not os.fork():
        os.kill(os.getppid(), signal.SIGSTOP)
        _sleep()
    _sleep()


def child_kills_it() -> None:
    """A child kills the worker. From outside it looks as if somebody else had done it."""
    if not os.fork():
        os.kill(os.getppid(), signal.SIGKILL)
        _sleep()
    _sleep()


def eats_shared_memory() -> None:
    """Pages without a file that a child would share."""
    size, piece = 100 * (16 << 20), b"x" * (16 << 20)
    memory = mmap.mmap(-1, size)
    _held.append(memory)
    for _ in range(100):
        memory.write(piece)
        time.sleep(0.008)
    _sleep()
