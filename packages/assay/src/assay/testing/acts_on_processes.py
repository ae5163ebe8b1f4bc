"""Acts of a backend: copies of its process, children that stay, the connection to the driver, ways not to end and ways to end."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from typing import Any

from assay.core.packets import TOKEN_BYTES, packets
from assay.core.wire import Done, Hello, encode

_SLEEP = [sys.executable, "-c", "import time; time.sleep(3600)"]
_GROW = "import time\nheld = []\nwhile len(held) < 100: held.append(bytearray(b'x') * (16 << 20)); time.sleep(0.008)\ntime.sleep(3600)"
_held: list[object] = []


def _sleep() -> None:
    while True:
        time.sleep(3600)


def _sockets() -> list[int]:
    found = []
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                found.append(descriptor)
        except OSError:
            continue
    return found


def _packet(message: Hello | Done) -> bytes:
    """Whole and well-formed, but for the token, which is not known here."""
    (packet,) = packets(bytes(TOKEN_BYTES), encode(message))
    return packet


def _write_to_sockets(data: bytes) -> None:
    for descriptor in _sockets():
        try:
            os.write(descriptor, data)
        except OSError:
            continue


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


def fork_that_writes_garbage() -> None:
    """A copy that writes into the worker's connection."""
    if not ctypes.CDLL(None).fork():
        _write_to_sockets(b"\0\0\0\x02{}")
        _write_to_sockets(b"garbage of a copy")
        _sleep()


def fork_that_reads() -> None:
    """A copy that takes what the worker should read."""
    if not ctypes.CDLL(None).fork():
        for descriptor in _sockets():
            os.set_blocking(descriptor, True)
            os.read(descriptor, 1 << 16)
        _sleep()


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


def garbage() -> None:
    """Native code that prints to a descriptor that is not its own."""
    _write_to_sockets(b"12 operators were fused\n" * 20)


def forged_length() -> None:
    """A length that no message has, and one that never comes."""
    _write_to_sockets(b"\xff\xff\xff\xff")
    _write_to_sockets(b"\0\0\x10\0")


def answer_for_another() -> None:
    """A well-formed answer to a job that this worker was not given."""
    from assay.testing.builders import make_result

    _write_to_sockets(_packet(Done(make_result("somebody else's case"))))


def answer_of_old_form() -> None:
    """A whole message, twice, by somebody who knows the form."""
    for _ in range(2):
        _write_to_sockets(_packet(Hello("2")))


def closes_all_and_lives() -> None:
    """A daemon's way to begin."""
    os.closerange(3, 4096)
    _sleep()


def closes_all() -> None:
    """And goes on as if nothing had happened."""
    os.closerange(3, 4096)


def shuts_sockets_down() -> None:
    """The descriptors stay, the connection does not."""
    for descriptor in _sockets():
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            connection.shutdown(socket.SHUT_RDWR)


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


def _connection() -> Any:
    """The worker's own, from where it is used."""
    frame = sys._getframe()
    while "driver" not in frame.f_locals and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_locals["driver"]


def answers_with_token() -> None:
    """It has found the connection itself, and answers a question that was not asked."""
    from assay.testing.builders import make_result

    _connection().send(Done(make_result("somebody else's case")))
    _sleep()


def greets_again() -> None:
    """It has found the connection itself."""
    _connection().send(Hello("3"))
    _sleep()


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


def answers_before_it_is_done() -> None:
    """It has found the connection and the job itself, says that all is well, and goes on: its next answer would be to another job."""
    import msgspec

    from assay.core.empty_result import empty_result
    from assay.core.outcome import Outcome, Stage

    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_name != "execute":
        frame = frame.f_back
    result = msgspec.structs.replace(empty_result(frame.f_locals["job"], Outcome.OK), stage=Stage.COMPARE)
    _connection().send(Done(result))
    time.sleep(1.0)
