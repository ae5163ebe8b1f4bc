"""The server in a thread of this process, on a free port of the loopback."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import WorkerFailed
from assay.testing.language_server.app import Settings, application

_LATEST_S = 20.0


@contextmanager
def running(settings: Settings, port: int = 0) -> Iterator[str]:
    """Its address, http://127.0.0.1:PORT, while it runs."""
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(application(settings), log_level="critical", access_log=False, lifespan="off", http="h11")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + _LATEST_S
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise WorkerFailed("the server of the tests did not start")
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)
        listening.close()
