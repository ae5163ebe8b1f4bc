"""A connection to a server that can be cut: while it is off, whoever connects is refused, and who was connected is cut off."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from types import TracebackType

from sqlalchemy import make_url


class Cut:
    """Between `address` and the `server` that it stands for."""

    def __init__(self, server: str) -> None:
        self.server = server
        url = make_url(server)
        self._to = (url.host or "127.0.0.1", url.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = url.set(port=self._listener.getsockname()[1]).render_as_string(hide_password=False)
        self._open: list[socket.socket] = []
        self._left: float = float("inf")
        self._off = self._once = self._loses_commit = self._is_mute = False
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def off(self) -> None:
        """Cut all connections, and let none be made."""
        self._off = True
        self._drop()

    def _drop(self) -> None:
        for connection in list(self._open):  # not those that are made again meanwhile
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def on(self) -> None:
        """Let connections be made."""
        self._off, self._left = False, float("inf")

    def after_bytes(self, count: int, *, once: bool = False) -> None:
        """Cut when so many more bytes were sent to the server; `once`: others can be made at once."""
        self._left, self._once = count, once

    def lose_next_commit(self) -> None:
        """Cut where the server has done the next COMMIT, and before whoever asked for it hears so. Others can be made at once."""
        self._loses_commit = True

    def __enter__(self) -> Cut:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.off()
        self._listener.shutdown(socket.SHUT_RDWR)  # it ends the accept of the thread, which closing does not
        self._listener.close()
        for thread in self._threads:
            thread.join(10)
        for open_ in self._open:
            open_.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        self._threads.append(threading.Thread(target=target, args=arguments, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._off:
                client.close()
                continue
            server = socket.create_connection(self._to)
            self._open += [client, server]
            self._start(self._pass_on, client, server, True)
            self._start(self._pass_on, server, client, False)

    def _pass_on(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if counted:
                    self._left -= len(data)
                    if self._left < 0:
                        self._left, self._off = float("inf"), not self._once
                        self._drop()
                    if self._loses_commit and b"COMMIT" in data:
                        self._loses_commit, self._is_mute = False, True
                elif self._is_mute:
                    self._is_mute = False
                    self._drop()
                    continue
                target.sendall(data)
        for side in (source, target):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
