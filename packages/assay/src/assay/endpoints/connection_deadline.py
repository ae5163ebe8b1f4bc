"""Connections whose waits all end at one deadline: a limit on silence alone is met by a byte now and then."""

from __future__ import annotations

import http.client
import io
import math
import socket
import time
from collections.abc import Callable
from typing import Any

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.host_lookup import Late, NoAddress, looked_up

_PIECE_BYTES = 1 << 14
"""One record of TLS: to send more than one would wait for each of them as long."""


class TimelyConnection(http.client.HTTPConnection):
    """Whatever it waits for beyond `until`, of the clock time.monotonic, is a TimeoutError, be it a name that is looked up."""

    until = math.inf

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.response_class = _responses(self.left_s)

    def left_s(self) -> float:
        """Raises TimeoutError where nothing is left."""
        left = self.until - time.monotonic()
        if left <= 0.0:
            raise Late(noted(EndpointCode.DEADLINE_OVER))
        return left

    def connect(self) -> None:
        """TLS, where it is spoken, begins behind it, and has what is left then."""
        trouble: OSError = NoAddress(noted(EndpointCode.HOST_HAS_NO_ADDRESS, host=self.host))
        for family, kind, protocol, _, address in looked_up(self.host, self.port, self.left_s()):
            connected = socket.socket(family, kind, protocol)
            try:
                connected.settimeout(self.left_s())
                connected.connect(address)
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connected.settimeout(self.left_s())
            except OSError as error:
                connected.close()
                trouble = error
                continue
            self.sock = connected
            return
        raise trouble

    def send(self, data: Any) -> None:
        """`data` is bytes: no body of ours is anything else."""
        if self.sock is None:
            self.connect()
        for at in range(0, len(data), _PIECE_BYTES):
            self.sock.settimeout(self.left_s())
            super().send(data[at : at + _PIECE_BYTES])


class TimelyTlsConnection(http.client.HTTPSConnection, TimelyConnection):
    """In this order: the one of TLS connects by means of the other."""


class _TimelyReads(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, connected: socket.socket, left_s: Callable[[], float]) -> None:
        self._raw, self._connected, self._left_s = raw, connected, left_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._connected.settimeout(self._left_s())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _responses(left_s: Callable[[], float]) -> type[http.client.HTTPResponse]:
    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **settings: Any) -> None:
            super().__init__(sock, *args, **settings)
            self.fp = io.BufferedReader(_TimelyReads(self.fp.detach(), sock, left_s))

    return Response
