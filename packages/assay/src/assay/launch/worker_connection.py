"""The driver's end of the connection to one worker. It never waits, and it reads only what that worker says to the question in hand."""

from __future__ import annotations

import secrets
import select
import socket
import struct
from collections import deque
from contextlib import suppress

from assay.core.job_base import Job
from assay.core.packets import RECEIVE_BYTES, TOKEN_BYTES, Message, NoPacket, packets
from assay.core.wire import Answer, decode_answer, encode

_CREDENTIALS = struct.Struct("3i")
_SPACE = socket.CMSG_SPACE(_CREDENTIALS.size)
"""For who has sent it, and for nothing else: descriptors that somebody sends along are not taken."""
PACKETS_AT_ONCE = 64
"""Then the others have their turn."""

_CUT_OFF = int(socket.MSG_TRUNC)
"""As a plain number: an enumeration takes as long as to receive the packet."""


class WorkerConnection:
    """`theirs` is what the worker inherits. The kernel says who has written a packet (SO_PASSCRED): a copy of the worker that writes is
    not the worker, which is known by its greeting. `noise` counts what was ignored since the last question; `answered_late` says that the
    worker itself has answered the question before once more."""

    def __init__(self) -> None:
        self.socket, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.setblocking(False)
        self.pid = 0
        self.noise = 0
        self.answered_late = False
        self._asked = self._asked_before = b""
        self._message = Message(secrets.token_bytes(TOKEN_BYTES))
        self._unsent: deque[bytes] = deque()

    def greet(self, shared: int) -> None:
        """Once, with the memory in which the worker says where it is."""
        with suppress(OSError):  # gone already: its end is read next
            socket.send_fds(self.socket, [self._message.token], [shared])

    def ask(self, job: Job) -> None:
        """Raises OSError where the worker is gone."""
        token = secrets.token_bytes(TOKEN_BYTES)
        self.noise, self.answered_late = 0, False
        self._asked_before, self._asked = self._asked, token
        self._message.expect(token)
        self._unsent.clear()
        self._unsent.extend(packets(token, encode(job)))
        self.flush()

    def flush(self) -> None:
        """What the worker has not taken yet. Raises OSError where it is gone."""
        while self._unsent:
            try:
                self.socket.send(self._unsent[0])
            except BlockingIOError:
                return
            self._unsent.popleft()

    def receive(self) -> list[Answer] | None:
        """What has arrived, and answers the question; None where nobody has the other end any more. Raises msgspec.MsgspecError where the
        worker says what is no answer."""
        answers: list[Answer] = []
        for _ in range(PACKETS_AT_ONCE):
            try:
                packet, sent_along, flags, _ = self.socket.recvmsg(RECEIVE_BYTES, _SPACE)
            except BlockingIOError:
                break
            except OSError:
                return answers or None
            if not packet and not sent_along:
                return answers or None
            body = self._take(packet, sent_along, flags)
            if body is not None:
                answers.append(decode_answer(body))
                self._message.expect(b"")
        return answers

    def _take(self, packet: bytes, sent_along: list[tuple[int, int, bytes]], flags: int) -> bytes | None:
        sender = _sender(sent_along)
        try:
            if flags & _CUT_OFF or (self.pid and sender != self.pid):
                raise NoPacket
            body = self._message.add(packet)
        except NoPacket:
            self.noise += 1
            self.answered_late |= bool(self._asked_before) and packet.startswith(self._asked_before)
            return None
        self.pid = sender
        return body

    def is_silent(self) -> bool:
        """Whether nothing waits to be read, its end included."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self.socket.close()


def _sender(sent_along: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in sent_along:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(data) >= _CREDENTIALS.size:
            return int(_CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0])
    return 0
