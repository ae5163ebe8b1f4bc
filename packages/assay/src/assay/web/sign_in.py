"""Who acts: a name that a reverse proxy puts into a header. Off unless proxies are named; a header from anybody else is refused."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send

from assay.errors import UsageError
from assay.web import render

HEADER = "X-Forwarded-User"
LONGEST_NAME = 200
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Forbidden(UsageError):
    """Who asks may not do that."""


@dataclass(frozen=True)
class SignIn:
    """`proxies` are the addresses whose header is believed, `operators` the names that may mute and annotate, `approvers` those that
    may approve engines, too; all others may look."""

    proxies: tuple[Network, ...]
    operators: frozenset[str]
    approvers: frozenset[str] = frozenset()
    header: str = HEADER
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def believes(self, address: str) -> bool:
        """Whether the other end of the connection is one of the proxies."""
        try:
            known = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(known in network for network in self.proxies)

    def token(self, name: str) -> str:
        """What a form must bring with it: a page of another site cannot know it. Good until the server is started again."""
        return hmac.new(self.secret, name.encode(), hashlib.sha256).hexdigest()

    def demand_operator(self, name: str) -> None:
        """Raises Forbidden for whoever may change nothing."""
        if not name:
            raise Forbidden("nobody is signed in: the proxy names no one")
        if name not in self.operators | self.approvers:
            raise Forbidden(f"{name} may look, and may change nothing: start the server with --operator {name}")

    def demand_approver(self, name: str) -> None:
        """Raises Forbidden for whoever may approve nothing."""
        self.demand_operator(name)
        if name not in self.approvers:
            raise Forbidden(f"{name} may approve nothing: start the server with --approver {name}")

    def demand_form(self, name: str, token: str) -> None:
        """Raises Forbidden unless the form is ours."""
        if not hmac.compare_digest(token.encode(), self.token(name).encode()):
            raise Forbidden("the form is not of this server, or is older than it: load the page again")


def sign_in_of(
    proxies: Sequence[str], operators: Collection[str], header: str = HEADER, approvers: Collection[str] = ()
) -> SignIn | None:
    """None where no proxy is named. Raises UsageError for what is no address, and for operators without a proxy."""
    if not proxies:
        if operators or approvers:
            option = "--operator" if operators else "--approver"
            raise UsageError(f"{option} needs --trust-proxy ADDRESS: without a proxy nobody is known by name")
        return None
    try:
        networks = tuple(ipaddress.ip_network(one, strict=False) for one in proxies)
    except ValueError as error:
        raise UsageError(
            f"--trust-proxy: {error}; give an address such as 10.0.0.7, or a network such as 10.0.0.0/24"
        ) from None
    return SignIn(networks, frozenset(operators), frozenset(approvers), header)


class KnowsWhoAsks:
    """Puts the name into the scope ("": nobody is known)."""

    def __init__(self, app: ASGIApp, sign_in: SignIn | None) -> None:
        self._app, self._sign_in = app, sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._sign_in is None:
            await self._app(scope, receive, send)
            return
        wanted = self._sign_in.header.lower().encode("latin-1")
        given = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == wanted]
        client = scope.get("client")
        if given and (len(given) > 1 or client is None or not self._sign_in.believes(client[0])):
            said = f"the header {self._sign_in.header} is believed of the proxy alone: ask by way of it"
            await render.data({"error": said}, 403)(scope, receive, send)
            return
        scope.setdefault("state", {})["user"] = given[0][:LONGEST_NAME] if given else ""
        await self._app(scope, receive, send)
