"""What servers of the tests promise: no answer is lost, and a port stays the owner's until its server listens there."""

from __future__ import annotations

import http.client
import socket

import pytest

from free_port import free_port
from http_server import Handler, serving


class _Refusing(Handler):
    def do_POST(self) -> None:
        self.answer(403, b"no")


def test_a_refusal_arrives_however_long_the_request_is() -> None:
    """Unread, it would be larger than what the system takes for a server, and the connection would be reset."""
    with serving(_Refusing) as address:
        for _ in range(3):
            asking = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
            asking.request("POST", "/", body=bytes(16 << 20))
            answer = asking.getresponse()
            assert (answer.status, answer.read()) == (403, b"no")
            asking.close()


def test_a_port_is_held_until_a_server_listens_there() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 60)
    with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port), 60):
        pass
