"""Acts of a backend: copies of its process, children that stay, the connection to the driver, ways not to end and ways to end."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

_SLEEP = [sys.executable, "-c", "import time; time.sleep(3600)"]
_GROW = "import time\nheld = []\nwhile len(held) < 100: held.append(bytearray(b'x') * (16 << 20)); time.sleep(0.008)\ntime.sleep(3600)"
_held: list[object] = []


def _sleep() -> None:
    while True:
        time.sleep(3600)


def fork_that_lives() -> None:
    """A copy that keeps all descriptors."""
    if not os.fork():
        _sleep()


def native_fork_that_lives() -> None:
    """As native code forks: no hook of Python runs."""
    if not ctypes.CDLL(None).fork():
        _sleep()


def fork_that_works_on() -> None:
    """Both sides return to the harness."""
    os.fork()


def native_fork_that_works_on() -> None:
    """Both sides return to the harness."""
    ctypes.CDLL(None).fork()


def child_in_own_session() -> None:
    """No signal to the worker's group reaches it."""
    _held.append(subprocess.Popen(_SLEEP, start_new_session=True))


def daemon() -> None:
    """A grandchild in a session of its own, whose parent is gone."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    _sleep()


def many_children() -> None:
    """Thirty of them, each in a session of its own."""
    for _ in range(30):
        if not os.fork():
            os.setsid()
            _sleep()


def daemon_and_exit() -> None:
    """Nobody is left to ask where the grandchild is."""
    daemon()
    os._exit(3)


def child_holds_socket_and_exit() -> None:
    """The connection stays open when the worker is gone."""
    native_fork_that_lives()
    os._exit(3)


def child_holds_socket_and_abort() -> None:
    """The connection stays open when the worker is gone."""
    native_fork_that_lives()
    os.abort()


def stops_itself() -> None:
    """Until somebody says SIGCONT."""
    os.kill(os.getpid(), signal.SIGSTOP)


def hangs_deaf() -> None:
    """No signal that can be ignored or blocked ends it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _sleep()


def hangs_in_native_code() -> None:
    """With the lock of the interpreter held."""
    ctypes.PyDLL(None).pause()


def _flood(seconds: float) -> None:
    line, end = b"flood " * 10_000 + b"\n", time.monotonic() + seconds
    while time.monotonic() < end:
        os.write(1, line)


def floods_log() -> None:
    """As fast as the kernel takes it."""
    _flood(0.3)


def floods_log_for_ever() -> None:
    """As fast as the kernel takes it."""
    _flood(3600)


def exit_handler_hangs() -> None:
    """Its worker will not end by itself."""
    atexit.register(_sleep)


def child_eats_memory() -> None:
    """The worker itself stays small."""
    subprocess.run([sys.executable, "-c", _GROW], check=False)


def far_grandchild_eats_memory() -> None:
    """In a session of its own, and its parent is gone."""
    child = os.fork()
    if not child:
        os.setsid()
        subprocess.Popen([sys.executable, "-c", _GROW])
        os._exit(0)
    os.waitpid(child, 0)
    _sleep()


def eats_memory() -> None:
    """Every page is touched."""
    while len(_held) < 100:
        _held.append(bytearray(b"x") * (16 << 20))
        time.sleep(0.008)
    _sleep()


def kills_itself() -> None:
    """From outside it looks as if somebody else had done it."""
    os.kill(os.getpid(), signal.SIGKILL)


def terminates_itself() -> None:
    """From outside it looks as if somebody else had done it."""
    os.kill(os.getpid(), signal.SIGTERM)
    _sleep()


def segfault_in_thread() -> None:
    """Not in the thread that does the job."""
    threading.Thread(target=ctypes.string_at, args=(0,), daemon=True).start()
    _sleep()


def divides_by_zero() -> None:
    """As an integer division in native code."""
    os.kill(os.getpid(), signal.SIGFPE)
    _sleep()


def leaves_well() -> None:
    """With the exit code of success."""
    os._exit(0)


def leaves_from_thread() -> None:
    """While the job is being done."""
    threading.Thread(target=os._exit, args=(7,), daemon=True).start()
    _sleep()


def leaves_by_c() -> None:
    """exit(3), handlers and all."""
    ctypes.CDLL(None).exit(5)


def fork_in_thread() -> None:
    """The copy has that thread alone."""

    def fork() -> None:
        if not os.fork():
            _sleep()

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()


def stopped_child() -> None:
    """It answers no signal but the last."""
    child = os.fork()
    if not child:
        os.kill(os.getpid(), signal.SIGSTOP)
        _sleep()
    os.waitpid(child, os.WUNTRACED)


def zombies() -> None:
    """Children that nobody waits for, and orphans."""
    for _ in range(20):
        if not os.fork():
            if not os.fork():
                os._exit(0)
            os._exit(0)


def becomes_another_program() -> None:
    """Its number stays, its connection does not."""
    os.execv(_SLEEP[0], _SLEEP)


def eats_memory_of_no_process() -> None:
    """Pages of a file that lies in memory belong to nobody's resident memory."""
    file, piece = os.memfd_create("assay-act"), b"x" * (16 << 20)
    for _ in range(100):
        os.write(file, piece)
        time.sleep(0.008)
    _sleep()


def shared_memory_left() -> None:
    """As a pool of workers leaves it when it is killed."""
    from multiprocessing import shared_memory

    _held.append(shared_memory.SharedMemory(create=True, size=1 << 16))


def system_v_memory_left() -> None:
    """It outlives every process."""
    ctypes.CDLL(None).shmget(0, 1 << 16, 0o1600)


def files_without_end() -> None:
    """Thirty thousand temporary files."""
    import tempfile

    folder = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
    for number in range(30_000):
        os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
