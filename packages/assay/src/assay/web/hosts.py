"""Only requests that name one of our hosts are answered: a page of another site cannot give itself our address (DNS rebinding)."""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from assay.web import responses

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANY = ("0.0.0.0", "::")


class OnlyTheseHosts:
    """The port is not looked at; upper and lower case are the same."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app, self._hosts = app, {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or host_of(scope) in self._hosts:
            await self._app(scope, receive, send)
            return
        text = "this server is not known by that name: call it by its own, or start it with --allow-host NAME"
        await responses.data({"error": text}, 421)(scope, receive, send)


def host_of(scope: Scope) -> str:
    """Without a port, in lower case; "" where the request names none."""
    values = [value for name, value in scope["headers"] if name == b"host"]
    text = values[0].decode("latin-1").strip().lower() if len(values) == 1 else ""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def known_hosts(host: str, allowed: Collection[str]) -> set[str]:
    """The loopback's names, the address that it listens at, and those that are allowed besides."""
    own = () if host in ANY else (host,)
    return {*LOOPBACK, *own, *allowed}
