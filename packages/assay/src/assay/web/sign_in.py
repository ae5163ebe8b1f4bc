"""Who acts: a name that a reverse proxy puts into a header, or somebody whom an OpenID provider knows. Off unless one of both is named; a
header from anybody but the proxy is refused."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from assay.errors import UsageError
from assay.web.oidc import Oidc
from assay.web.person import Forbidden, Person

HEADER = "X-Forwarded-User"
GROUP = "group:"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Role:
    """Those who have it: by name, or as members of a group."""

    names: frozenset[str]
    groups: frozenset[str]

    def has(self, person: Person) -> bool:
        return person.name in self.names or bool(person.groups & self.groups)


def role_of(own_groups: Collection[str]) -> Role:
    """`ann` is a name, `group:release` all members of a group."""
    groups = frozenset(member.removeprefix(GROUP) for member in own_groups if member.startswith(GROUP))
    return Role(frozenset(member for member in own_groups if not member.startswith(GROUP)), groups)


@dataclass(frozen=True)
class SignIn:
    """`proxies` are the addresses whose header is believed, `operators` those who may mute and annotate, `approvers` those who may approve
    engines, too; all others may look."""

    proxies: tuple[Network, ...]
    operators: Role
    approvers: Role
    header: str = HEADER
    oidc: Oidc | None = None
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

    def may_approve(self, person: Person) -> bool:
        return bool(person.name) and self.approvers.has(person)

    def may_act(self, person: Person) -> bool:
        return self.may_approve(person) or (bool(person.name) and self.operators.has(person))

    def demand_operator(self, person: Person) -> None:
        """Raises Forbidden for whoever may change nothing."""
        if not person.name:
            who = "the proxy names no one" if self.oidc is None else "sign in first"
            raise Forbidden(f"nobody is signed in: {who}")
        if not self.may_act(person):
            raise Forbidden(
                f"{person.name} may look, and may change nothing: start the server with --operator {person.name}"
            )

    def demand_approver(self, person: Person) -> None:
        """Raises Forbidden for whoever may approve nothing."""
        self.demand_operator(person)
        if not self.may_approve(person):
            raise Forbidden(f"{person.name} may approve nothing: start the server with --approver {person.name}")

    def demand_form(self, person: Person, token: str) -> None:
        """Raises Forbidden unless the form is ours."""
        if not hmac.compare_digest(token.encode(), self.token(person.name).encode()):
            raise Forbidden("the form is not of this server, or is older than it: load the page again")


def sign_in_of(
    proxies: Sequence[str],
    operators: Collection[str],
    header: str = HEADER,
    approvers: Collection[str] = (),
    oidc: Oidc | None = None,
) -> SignIn | None:
    """None where neither a proxy nor a provider is named. Raises UsageError for what is no address, and for operators whom nobody names."""
    if not proxies and oidc is None:
        if operators or approvers:
            option = "--operator" if operators else "--approver"
            raise UsageError(
                f"{option} needs --trust-proxy ADDRESS or --oidc ISSUER: without one of both nobody is known by name"
            )
        return None
    groups = [member for member in (*operators, *approvers) if member.startswith(GROUP)]
    if groups and oidc is None:
        raise UsageError(f"{groups[0]} needs --oidc ISSUER: a proxy names people, and says nothing of their groups")
    try:
        networks = tuple(ipaddress.ip_network(proxy, strict=False) for proxy in proxies)
    except ValueError as error:
        raise UsageError(
            f"--trust-proxy: {error}; give an address such as 10.0.0.7, or a network such as 10.0.0.0/24"
        ) from None
    return SignIn(networks, role_of(operators), role_of(approvers), header, oidc)
