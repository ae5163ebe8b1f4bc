"""A server that says what it was told to say, whatever it is asked."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def whole(status: str, body: bytes) -> bytes:
    """An answer with its length."""
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


def _read_request(other: socket.socket) -> None:
    """All of it: a connection that is closed with bytes unread is reset, and the answer may be lost."""
    with other.makefile("rb") as sent:
        headers = http.client.parse_headers(sent) if sent.readline() else http.client.HTTPMessage()
        sent.read(int(headers.get("Content-Length", 0)))


@contextmanager
def answering(content: bytes, then: bytes = b"") -> Iterator[int]:
    """A server that says the same to everybody, and goes on with something without an end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    other, _ = listening.accept()
                except OSError:
                    return
                with other:
                    _read_request(other)
                    other.sendall(content)
                    with suppress(OSError):
                        while then:
                            other.sendall(then)
                            time.sleep(0.02)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
