"""Open the history and serve, until told to stop."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from pathlib import Path

from assay.commands.composition import open_to_read
from assay.errors import UsageError
from assay.options.groups import DEFAULT_HISTORY
from assay.ports import Browsable
from assay.web.hosts import known_hosts


def serve(
    history: str,
    host: str,
    port: int,
    allowed: Sequence[str] = (),
    title: str = "Assay",
    *,
    proxies: Sequence[str] = (),
    operators: Sequence[str] = (),
    approvers: Sequence[str] = (),
    user_header: str = "",
) -> None:
    """Raises UsageError where it cannot listen, where a package is missing, and where this kind of history has no pages; RunNotFound,
    StoreError where there is no history."""
    try:
        import uvicorn

        from assay.web.actions import Actions
        from assay.web.app import make_app
        from assay.web.head_deadline import HeadDeadline
        from assay.web.sign_in import HEADER, sign_in_of
        from assay.web.site import Site
    except ModuleNotFoundError as error:
        raise UsageError(f"the dashboard needs {error.name}: pip install 'assay[serve]'") from None
    folder = Path(DEFAULT_HISTORY if "://" in history else history)
    sign_in = sign_in_of(proxies, operators, user_header or HEADER, approvers)
    with open_to_read(history) as store:
        if not isinstance(store, Browsable):
            raise UsageError(f"{history} is a kind of history that has no pages")
        listener = _listen(host, port)
        actions = Actions(history, folder, sign_in) if sign_in else None
        app = make_app(Site(store, folder, title), known_hosts(host, allowed), actions)
        address = f"[{host}]" if ":" in host else host
        print(f"http://{address}:{listener.getsockname()[1]}/  (Ctrl-C ends it)", flush=True)
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        # What a page raises is logged by the application; a page that is cut off at the end is nobody's fault.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        # A connection without a whole head of a request is closed, and there is an end to how many there are.
        config = uvicorn.Config(
            app, http=HeadDeadline, log_config=None, access_log=False, server_header=False, proxy_headers=False, timeout_keep_alive=15,
            timeout_graceful_shutdown=5, limit_concurrency=500, h11_max_incomplete_event_size=16_384,
        )  # fmt: skip
        with listener:
            uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"--port is {port}; it must be from 0 to 65535")
    listener = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise UsageError(
            f"cannot listen at {host} port {port} ({error.strerror}): give another --host or --port, 0 for any that is free"
        ) from None
    return listener
