"""The worker's end of its connection: jobs in, results out, and whether it is still what it was."""

from __future__ import annotations

import errno
import select
import socket
from os import _exit, close, dup, fstat, getpid, strerror
from typing import Never

from assay.core.packets import RECEIVE_BYTES, Message, NoPacket, packets
from assay.core.wire import LOST_CONNECTION, Answer, encode

SPARE = 8
"""Descriptors that are held back, so that a job that has used up all others can be reported."""


class DriverConnection:
    """Belongs to the process that made it: a copy of that process (fork) ends where it would use it."""

    def __init__(self, connection: socket.socket, token: bytes) -> None:
        self._socket, self._token = connection, token
        self._owner = getpid()
        self._number = connection.fileno()
        status = fstat(self._number)
        self._identity = (status.st_dev, status.st_ino)
        self._poll = select.poll()
        self._poll.register(self._number, 0)  # errors alone
        self._spare = [dup(2) for _ in range(SPARE)]

    def receive(self) -> bytes | None:
        """The next question; None where the driver has closed its end."""
        message = Message(any_token=True)
        while packet := self._socket.recv(RECEIVE_BYTES):
            try:
                body = message.add(packet)
            except NoPacket:
                continue
            if body is not None:
                self._token = message.token
                return body
        return None

    def send(self, answer: Answer) -> None:
        """To the last question. Raises what msgspec raises where it cannot be written."""
        body = encode(answer)
        self.check()
        try:
            for packet in packets(self._token, body):
                self._socket.send(packet)
        except OSError:
            lost()

    def check(self) -> None:
        """At the end of each stage: a copy of the worker ends here, and so does a worker that has closed its connection, so that the
        stage in which it happened is the last. Raises OSError where no file can be opened any more."""
        if getpid() != self._owner:
            _exit(0)
        if self._poll.poll(0):
            lost()
        try:
            status = fstat(self._number)
        except OSError:
            lost()
        if (status.st_dev, status.st_ino) != self._identity:
            lost()
        try:
            close(dup(self._number))
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            self.release_spare()
            raise OSError(errno.EMFILE, strerror(errno.EMFILE)) from error

    def release_spare(self) -> None:
        """For whoever must report that there are no others."""
        while self._spare:
            close(self._spare.pop())


def lost() -> Never:
    """Nobody can be told any more."""
    _exit(LOST_CONNECTION)
