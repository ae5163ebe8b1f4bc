"""Acts of a backend on the connection to the driver."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import sys
import time
from contextlib import suppress
from typing import Any

from assay.core.packets import TOKEN_BYTES, packets
from assay.core.wire import Done, Hello, encode


def _sleep() -> None:
    while True:
        time.sleep(3600)


def _sockets() -> list[int]:
    sockets = []
    for descriptor in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                sockets.append(descriptor)
        except OSError:
            continue
    return sockets


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


def _connection() -> Any:
    """The worker's own, from where it is used."""
    return _frame_with("driver")


def answers_with_token() -> None:
    """It has found the connection itself, and answers a question that was not asked."""
    from assay.testing.builders import make_result

    _connection().send(Done(make_result("somebody else's case")))
    _sleep()


def greets_again() -> None:
    """It has found the connection itself."""
    _connection().send(Hello("3"))
    _sleep()


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


def _frame_with(name: str) -> Any:
    frame = sys._getframe()
    while name not in frame.f_locals and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_locals[name]


def copy_answers_later() -> None:
    """It has found connection, token and job, waits until the worker has begun to wait, and answers in its place."""
    import msgspec

    from assay.core.empty_result import empty_result
    from assay.core.outcome import Outcome

    driver, job = _connection(), _frame_with("job")
    answer = encode(Done(msgspec.structs.replace(empty_result(job, Outcome.ERROR), detail="said by a copy")))
    if ctypes.CDLL(None).fork():
        time.sleep(0.5)
        return
    for packet in packets(driver._token, answer):
        os.write(driver._number, packet)
    _sleep()


def crumb_overwritten() -> None:
    """The memory in which it says where it is."""
    memory = _frame_with("shared")
    memory[:] = b"\xff" * len(memory)


def empty_packets() -> None:
    """Each looks like an end of the connection."""
    for _ in range(20):
        _write_to_sockets(b"")


def floods_connection() -> None:
    """As native code that prints into it, in a loop."""
    for _ in range(20_000):
        _write_to_sockets(b"12 operators were fused\n")


def sends_descriptors() -> None:
    """Whoever takes them has none left for others."""
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor in _sockets():
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            for _ in range(20):
                with suppress(OSError):  # more than may be on their way
                    socket.send_fds(connection, [b"take them"], [null] * 200, socket.MSG_DONTWAIT)
    os.close(null)


def socket_swapped() -> None:
    """Another one has its number."""
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.dup2(ours.fileno(), _connection()._number)
