"""Acts of a backend on what the kernel gives to a process: files, memory, limits, priorities."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import resource
import signal
import socket
import tempfile
import time
from pathlib import Path

_held: list[object] = []
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_IDLE_CLASS = 3 << 13
_PR_SET_TIMERSLACK = 29
_MCL_CURRENT = 1


def many_files() -> None:
    """Deep below one another, with names that are no text."""
    folder = Path(tempfile.mkdtemp())
    for number in range(2000):
        (folder / f"{number}").touch()
    for _ in range(100):
        folder = folder / "deeper"
        folder.mkdir()
    with open(os.fsencode(folder) + b"/\xff\n", "wb"):
        pass


def closed_folders() -> None:
    """Whose owner may not look into them."""
    folder = Path(tempfile.mkdtemp())
    (folder / "in" / "side").mkdir(parents=True)
    (folder / "in" / "file").touch()
    for path in (folder / "in" / "side", folder / "in", folder):
        path.chmod(0)


def sparse_file() -> None:
    """As large as no disk is."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        os.truncate(file.name, 1 << 40)


def sockets_in_folder() -> None:
    """And a pipe with a name: who opens it waits."""
    folder = tempfile.mkdtemp()
    os.mkfifo(f"{folder}/pipe")
    here = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as own:  # its whole name may be too long
        own.bind(f"/proc/self/fd/{here}/socket")
    os.close(here)


def no_large_file() -> None:
    """What is written past a megabyte ends in an error."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def lowest_limits() -> None:
    """Of what nobody has asked for yet."""
    for limit in (resource.RLIMIT_STACK, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        resource.setrlimit(limit, (0, resource.getrlimit(limit)[1]))


def hard_limits() -> None:
    """All that may be lowered a little."""
    for name in dir(resource):
        if name.startswith("RLIMIT_") and name != "RLIMIT_NPROC":
            soft, hard = resource.getrlimit(number := getattr(resource, name))
            if hard > 4096:
                resource.setrlimit(number, (min(soft, hard - 1) if soft != -1 else hard - 1, hard - 1))


def memory_locked() -> None:
    """What is there stays in memory, if it may."""
    ctypes.CDLL(None).mlockall(_MCL_CURRENT)


def terabytes_reserved() -> None:
    """And never written to."""
    no_reserve = 0x4000
    _held.append(mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve))


def log_without_lines() -> None:
    """Megabytes of one line, to both streams."""
    for descriptor in (1, 2):
        for _ in range(32):
            os.write(descriptor, b"x" * (1 << 20))


def io_priority() -> None:
    """It reads and writes when nobody else does."""
    ctypes.CDLL(None).syscall(_IOPRIO_SET[platform.machine()], 1, 0, _IDLE_CLASS)


def timer_slack() -> None:
    """Each sleep may take half a second more."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 500_000_000, 0, 0, 0)


def processor_time_used_up() -> None:
    """The kernel ends it (SIGXCPU)."""
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    while True:
        pass


def alarm_ends_it() -> None:
    """While it waits."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(60)


def broken_pipe_ends_it() -> None:
    """As it ends a program that was written for that."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    reading, writing = os.pipe()
    os.close(reading)
    os.write(writing, b"x")


def frees_twice() -> None:
    """The C library notices it."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.free.argtypes = [ctypes.c_void_p]
    place = library.malloc(1 << 12)
    library.free(place)
    library.free(place)
    os.abort()  # another library did not


def standard_input_is_its_socket() -> None:
    """A copy of the first that it has, on the lowest number."""
    for number in range(3, 64):
        try:
            if os.path.realpath(f"/proc/self/fd/{number}").rpartition("/")[2].startswith("socket:"):
                os.dup2(number, 0)
                return
        except OSError:
            continue
    with socket.socket() as own:
        os.dup2(own.fileno(), 0)


def spawned_child() -> None:
    """By posix_spawn, which shares memory with its parent for a moment."""
    os.posix_spawn("/bin/sleep", ["sleep", "3600"], os.environ)
