"""An answer that is given up in time, however slowly it arrives: a limit on silence alone is met by a byte now and then."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from assay.models.named_sources.wanted import SourceRequest


class _Sockets:
    """Those that are open for one model, one for each redirect."""

    def __init__(self, request: SourceRequest) -> None:
        self._wanted = request
        self._open: list[socket.socket] = []

    def add(self, opened: socket.socket) -> None:
        """Raises BadModel where the time is over."""
        self._open.append(opened)
        self._wanted.left_s()

    def shut(self) -> None:
        """Whoever reads from one gets the end of it. TLS is not told: another thread is in the middle of it."""
        for connection in self._open:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


@contextmanager
def handlers_until_deadline(request: SourceRequest) -> Iterator[list[urllib.request.BaseHandler]]:
    """Handlers for `build_opener` whose connections end at the deadline of `request`."""
    sockets = _Sockets(request)
    timer = threading.Timer(request.left_s(), sockets.shut)
    timer.daemon = True
    timer.start()
    try:
        yield [_http_handler(sockets), _https_handler(sockets)]
    finally:
        timer.cancel()


def _http_handler(sockets: _Sockets) -> urllib.request.BaseHandler:
    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            sockets.add(self.sock)

    class Handler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Connection, req)

    return Handler()


def _https_handler(sockets: _Sockets) -> urllib.request.BaseHandler:
    class Connection(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            sockets.add(self.sock)

    class Handler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Connection, req)

    return Handler()
