"""Signing in and out with an OpenID provider: the addresses, the cookies, and where people come back to."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.errors import UsageError
from assay.web.address import address
from assay.web.pages import PAGES
from assay.web.person import NOBODY, Person
from assay.web.sessions import Sessions

if TYPE_CHECKING:
    from assay.web.begun import Begun
    from assay.web.openid_provider import OpenIdProvider

BEGIN, BACK, OUT = "/sign-in", "/sign-in/back", "/sign-out"
BEGUN_S, SIGNED_IN_S = 600.0, 8 * 3600.0
MOST_SIGNED_IN = 10_000
LONGEST_TO = 1000
"""Bytes: it goes into a cookie, of which browsers keep 4,096."""
SCOPE = "openid email profile"


class Oidc:
    """`public` is the address by which browsers know this server, without a last slash."""

    def __init__(self, provider: OpenIdProvider, public: str, begun: Begun) -> None:
        self._provider, self._public, self._begun = provider, public, begun
        secure = public.startswith("https:")
        # A cookie that begins so is taken from this very host alone.
        self._names = [f"{'__Host-' if secure else ''}assay-{name}" for name in ("begun", "session")]
        self._cookie: dict[str, Any] = {"secure": secure, "httponly": True, "samesite": "lax", "path": "/"}
        self._people: Sessions[Person] = Sessions(SIGNED_IN_S, MOST_SIGNED_IN)

    def who(self, request: Request) -> Person:
        """NOBODY for a session that is unknown or over."""
        return self._people.get(request.cookies.get(self._names[1], "")) or NOBODY

    async def begin(self, request: Request) -> Response:
        """To the provider; first to the public address where a browser calls another, as cookies are of the address that gave them."""
        to_page = _own(request.query_params.get("to", ""))
        if request.headers.get("host") != urlsplit(self._public).netloc and "sent" not in request.query_params:
            # Once: a proxy may call this server by a name of its own.
            return RedirectResponse(self._public + address(BEGIN, to=to_page, sent=1), status_code=303)
        kept: dict[str, Any] = {}
        request.scope["session"] = kept
        to = await self._provider.begin(request, self._public + BACK)
        answer = RedirectResponse(to, status_code=303)
        word = self._begun.closed({"session": kept, "to": to_page})
        answer.set_cookie(self._names[0], word, max_age=int(BEGUN_S), **self._cookie)
        return answer

    async def back(self, request: Request) -> tuple[Person, Response]:
        """From the provider: the person, and the answer that signs them in. Raises Forbidden."""
        kept = self._begun.opened(request.cookies.get(self._names[0], "")) or {"session": {}, "to": "/"}
        request.scope["session"] = kept["session"]
        person = await self._provider.person(request)
        self._people.take(request.cookies.get(self._names[1], ""))
        answer = RedirectResponse(kept["to"], status_code=303)
        answer.delete_cookie(self._names[0], **self._cookie)
        answer.set_cookie(self._names[1], self._people.open(person), max_age=int(SIGNED_IN_S), **self._cookie)
        return person, answer

    def out(self, request: Request) -> Response:
        """The session is over here; the provider's own goes on."""
        self._people.take(request.cookies.get(self._names[1], ""))
        answer = RedirectResponse("/", status_code=303)
        answer.delete_cookie(self._names[1], **self._cookie)
        return answer


def _own(to: str) -> str:
    """A page of this server; the first one for whatever could lead elsewhere."""
    plain = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    is_page = any(to.partition("?")[0] == page.path for page in PAGES)
    return to if plain and is_page and len(to.encode()) <= LONGEST_TO else "/"


def oidc_of(
    issuer: str,
    client: str,
    claim: str,
    public: str,
    environment: Mapping[str, str],
    *,
    scope: str = SCOPE,
    groups: str = "groups",
    asks_groups: bool = False,
) -> Oidc | None:
    """None where no issuer is named. The client's secret is $ASSAY_OIDC_SECRET; `asks_groups`: a role is a group. Raises UsageError."""
    if not issuer:
        if client or public:
            raise UsageError(f"{'--oidc-client' if client else '--public-url'} needs --oidc ISSUER")
        return None
    if not client:
        raise UsageError("--oidc needs --oidc-client ID: what the provider calls this server")
    if "openid" not in scope.split():
        raise UsageError(f"--oidc-scope is {scope!r}; it must hold openid, such as {SCOPE!r}")
    for option, value in (("--oidc", issuer), ("--public-url", public)):
        _demand_address(option, value)
    try:
        from assay.web.begun import Begun
        from assay.web.openid_provider import OpenIdProvider, ProviderOptions
    except ModuleNotFoundError as error:
        raise UsageError(f"signing in with a provider needs {error.name}: pip install 'assay[serve,oidc]'") from None
    options = ProviderOptions(
        issuer, client, environment.get("ASSAY_OIDC_SECRET", ""), claim, groups, scope, asks_groups=asks_groups
    )
    return Oidc(OpenIdProvider(options), public.rstrip("/"), Begun(BEGUN_S))


def _demand_address(option: str, value: str) -> None:
    """https, or http on this machine alone: a token that others can read is anybody's."""
    parts = urlsplit(value)
    is_plain = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    if option == "--public-url":
        is_plain = is_plain and not parts.path.strip("/")
    if not is_plain:
        raise UsageError(f"{option} is {value!r}; give an address such as https://assay.example.org")
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise UsageError(f"{option} is {value!r}; anywhere but on this machine it must be https")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
