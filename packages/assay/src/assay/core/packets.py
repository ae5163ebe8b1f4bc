"""How a message is cut into packets: each names the message it belongs to, so that what others write beside it is told apart.

Driver and worker are joined by a socket that keeps the bounds of what is written (SOCK_SEQPACKET). A packet begins with the token of the
question: 16 random bytes that the driver draws for each job, and one for the greeting. A descriptor that is handed on, native code that
prints into it, a forged length: none of it begins with the token, and none of it can reach into another packet.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from assay.core.note import NoteCode, noted
from assay.errors import HarnessError

TOKEN_BYTES = 16
_HEAD = struct.Struct(f"<{TOKEN_BYTES}sII")
PACKET_BYTES = 60_000
"""Of the message in one packet: with its head it fits what the kernel takes at once (net.core.wmem_default is 212,992)."""
RECEIVE_BYTES = PACKET_BYTES + _HEAD.size
MAXIMUM_BYTES = 64 * 1024 * 1024
"""A longer message is a broken worker, not a result."""
_MAXIMUM_COUNT = MAXIMUM_BYTES // PACKET_BYTES


def packets(token: bytes, body: bytes) -> list[bytes]:
    """In their order. Raises HarnessError past `MAXIMUM_BYTES`."""
    if len(body) > MAXIMUM_BYTES:
        raise HarnessError(noted(NoteCode.MESSAGE_TOO_LARGE, size_bytes=len(body), most_bytes=MAXIMUM_BYTES))
    if len(body) <= PACKET_BYTES:
        return [_HEAD.pack(token, 0, 1) + body]
    pieces = [body[start : start + PACKET_BYTES] for start in range(0, len(body), PACKET_BYTES)]
    return [_HEAD.pack(token, place, len(pieces)) + piece for place, piece in enumerate(pieces)]


@dataclass
class Message:
    """A message on its way in. `token` is that of the question which is to be answered; b"" takes any, and keeps the last."""

    token: bytes = b""
    any_token: bool = False
    _pieces: list[bytes] = field(default_factory=list)

    def expect(self, token: bytes) -> None:
        """What came of another question is dropped."""
        self.token = token
        self._pieces.clear()

    def add(self, packet: bytes) -> bytes | None:
        """The whole message with its last packet, else None. Raises NoPacket on what does not belong to it."""
        if len(packet) < _HEAD.size:
            raise NoPacket
        token, place, count = _HEAD.unpack_from(packet)
        if self.any_token and not self._pieces:
            self.token = token
        if token != self.token or place != len(self._pieces) or not place < count <= _MAXIMUM_COUNT + 1:
            raise NoPacket
        if count == 1:
            return packet[_HEAD.size :]
        self._pieces.append(packet[_HEAD.size :])
        if len(self._pieces) < count:
            return None
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return whole


class NoPacket(Exception):
    """It is no part of the message that is waited for."""
