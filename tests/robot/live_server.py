"""A real HTTP server in a thread, for an application under test or a forge that is played."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Its address, without a slash at the end."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until = time.monotonic() + 300
    while not server.started:
        assert thread.is_alive(), "the application did not start"
        assert time.monotonic() < until, "the server did not come up"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


def until_true(what: object, *, seconds: float = 300.0) -> None:
    """Wait for a condition, as a callable; fails with its name when it does not come."""
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, f"{what} did not come within {seconds} s"
        time.sleep(0.05)
