"""Open the history and serve, until told to stop."""

from __future__ import annotations

import gc
import logging
import os
import socket
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.commands.composition import open_to_read
from assay.errors import UsageError
from assay.options.groups import DEFAULT_HISTORY
from assay.ports import Browsable
from assay.web.hosts import known_hosts
from assay.web.processes import in_processes

if TYPE_CHECKING:
    from assay.web.actions import Actions
    from assay.web.site import BrowsableStore


@dataclass(frozen=True)
class WhoIsKnown:
    """By whom people are named, a proxy or an OpenID provider, and who may do what. `public`: the address that browsers call."""

    proxies: Sequence[str] = ()
    operators: Sequence[str] = ()
    approvers: Sequence[str] = ()
    header: str = ""
    issuer: str = ""
    client: str = ""
    claim: str = "email"
    scope: str = ""
    groups: str = "groups"
    public: str = ""


def serve(
    history: str,
    host: str,
    port: int,
    allowed: Sequence[str] = (),
    title: str = "Assay",
    known: WhoIsKnown = WhoIsKnown(),
    workers: int = 1,
) -> None:
    """`workers` are processes that share the port. Raises UsageError where it cannot listen, where a package is missing, and where this
    kind of history has no pages; RunNotFound, StoreError where there is no history."""
    if workers > 1 and known.issuer:
        raise UsageError("--workers is 1 with --oidc: one process alone knows who is signed in")
    try:
        from assay.web.actions import Actions
        from assay.web.oidc import SCOPE, oidc_of
        from assay.web.sign_in import GROUP, HEADER, sign_in_of
    except ModuleNotFoundError as error:
        raise UsageError(f"the dashboard needs {error.name}: pip install 'assay[serve]'") from None
    folder = Path(DEFAULT_HISTORY if "://" in history else history)
    with _browsable(history):  # what is wrong with it is said before the address
        listener = _listen(host, port)
    with listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        public = known.public or (address if known.issuer else "")
        asks_groups = any(member.startswith(GROUP) for member in (*known.operators, *known.approvers))
        oidc = oidc_of(
            known.issuer, known.client, known.claim, public, os.environ, scope=known.scope or SCOPE, groups=known.groups,
            asks_groups=asks_groups,
        )  # fmt: skip
        sign_in = sign_in_of(known.proxies, known.operators, known.header or HEADER, known.approvers, oidc)
        names = (*allowed, urlsplit(public).hostname or "") if public else allowed
        actions = Actions(history, folder, sign_in) if sign_in else None
        pages = _Pages(history, folder, title, known_hosts(host, names), actions)
        print(f"{address}/  (Ctrl-C ends it)", flush=True)
        # The secret of the forms is made above: a form of one process is good for all.
        in_processes(workers, lambda: pages.answer(listener))


@dataclass(frozen=True)
class _Pages:
    """What a process answers with."""

    history: str
    folder: Path
    title: str
    hosts: Collection[str]
    actions: Actions | None

    def answer(self, listener: socket.socket) -> None:
        """Until it is told to stop, on a history that it opens itself."""
        import uvicorn

        from assay.web.app import make_app
        from assay.web.head_deadline import HeadDeadline
        from assay.web.site import Site

        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        # What a page raises is logged by the application; a page that is cut off at the end is nobody's fault.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        with _browsable(self.history) as store:
            app = make_app(Site(store, self.folder, self.title), self.hosts, self.actions)
            # A connection without a whole head of a request is closed, and there is an end to how many there are.
            config = uvicorn.Config(
                app, http=HeadDeadline, log_config=None, access_log=False, server_header=False, proxy_headers=False, timeout_keep_alive=15,
                timeout_graceful_shutdown=5, limit_concurrency=500, h11_max_incomplete_event_size=16_384,
            )  # fmt: skip
            threading.Thread(target=_load_ahead, daemon=True).start()
            uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _browsable(history: str) -> Iterator[BrowsableStore]:
    with open_to_read(history) as store:
        if not isinstance(store, Browsable):
            raise UsageError(f"{history} is a kind of history that has no pages")
        yield store


def _load_ahead() -> None:
    """What the first page of each kind would wait for, half a second of it for a trend. What is loaded then stays: without it the collector
    of cycles holds a page up for a millisecond, and not for eighty."""
    from assay.stats.step_changes import SEGMENT, step_changes
    from assay.web.responses import environment

    for name in environment().list_templates():
        environment().get_template(name)
    step_changes([1.0] * SEGMENT + [2.0] * SEGMENT)
    gc.collect()
    gc.freeze()


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
