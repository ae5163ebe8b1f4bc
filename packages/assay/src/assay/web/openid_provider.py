"""An OpenID provider: where it sends people, and what it says of them in a signed token (OpenID Connect Core 1.0, code flow, PKCE)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import BadSignatureError, ClaimError, ExpiredTokenError, InvalidKeyIdError, JoseError
from starlette.requests import Request

from assay.errors import HarnessError, UsageError
from assay.reports.sanitize import one_line
from assay.web.person import Forbidden, Person

Value = TypeVar("Value")
TIMEOUT_S = 10.0
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Signatures with a key that the provider alone has: none of `none` and HMAC, whatever the provider lists."""
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
USERINFO = "userinfo_endpoint"
VERIFIED = ("email", "email_verified")
LEEWAY_S = 60
LONGEST = 200
_CLAIMS = {
    "iss": "it is of another issuer",
    "aud": "it is for another client",
    "azp": "it is for another client",
    "nonce": "it belongs to another sign-in",
    "at_hash": "it belongs to another access token",
    "iat": "it is of the future: look at the clocks of both machines",
    "nbf": "it is of the future: look at the clocks of both machines",
}


@dataclass(frozen=True)
class ProviderOptions:
    """`claim` names people, `groups` their groups, which matter where `asks_groups`. `secret` is "" for a public client."""

    issuer: str
    client: str
    secret: str = field(default="", repr=False)
    claim: str = "email"
    groups: str = "groups"
    scope: str = "openid email profile"
    asks_groups: bool = False

    @property
    def wanted(self) -> tuple[str, ...]:
        """The claims that somebody must say."""
        names = VERIFIED if self.claim == "email" else (self.claim,)
        return (*names, self.groups) if self.asks_groups else names


class OpenIdProvider:
    """Reached when somebody signs in, not before."""

    def __init__(self, options: ProviderOptions) -> None:
        self._options = options
        how = "client_secret_basic" if options.secret else "none"
        self._app: Any = OAuth().register(
            "assay",
            client_id=options.client,
            client_secret=options.secret or None,
            server_metadata_url=f"{options.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": options.scope,
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": how,
                "timeout": TIMEOUT_S,
            },
        )

    async def begin(self, request: Request, back: str) -> str:
        """Where to send the browser. What must be known when it comes back is kept in the session of `request`."""
        await self._heard(self._described())
        answer = await self._heard(self._app.authorize_redirect(request, back))
        return str(answer.headers["location"])

    async def person(self, request: Request) -> Person:
        """Who came back. Raises Forbidden for an answer that proves nobody, HarnessError for a provider that does not answer."""
        await self._heard(self._described())
        options = self._options
        expected = {
            "iss": {"essential": True, "value": options.issuer},
            "aud": {"essential": True, "value": options.client},
        }
        token = await self._heard(self._app.authorize_access_token(request, claims_options=expected, leeway=LEEWAY_S))
        if "userinfo" not in token:
            raise Forbidden("the provider gave no token that says who signs in: is it one of OpenID Connect?")
        claims = dict(token["userinfo"])
        if not claims.keys() >= set(options.wanted) and USERINFO in self._app.server_metadata:
            more = await self._heard(self._app.userinfo(token=token))
            if more.get("sub") != claims["sub"]:
                raise Forbidden("the provider says who signs in twice, and not the same: nobody is signed in")
            claims = _together(claims, more)
        return self._named(claims)

    def _named(self, claims: Mapping[str, Any]) -> Person:
        claim = self._options.claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST:
            raise Forbidden(f"the provider says no {claim} of who signs in: name another claim with --oidc-claim")
        if claim == "email" and claims.get("email_verified") is not True:
            raise Forbidden("the provider has not verified the address of who signs in (email_verified)")
        groups = claims.get(self._options.groups, ())
        known = groups if isinstance(groups, list) else ()
        return Person(one_line(name.strip()), frozenset(group for group in known if isinstance(group, str)))

    async def _described(self) -> None:
        """The provider's description of itself, which must be of the issuer that was named."""
        about = await self._app.load_server_metadata()
        if about.get("issuer") != self._options.issuer:
            about.pop("_loaded_at", None)
            raise UsageError(
                f"the provider calls itself {one_line(str(about.get('issuer')))[:LONGEST]!r}: start the server with --oidc and that"
            )
        scheme = urlsplit(self._options.issuer).scheme
        addresses = (*ENDPOINTS, *([USERINFO] if USERINFO in about else []))
        if any(urlsplit(str(about.get(name, ""))).scheme not in ("https", scheme) for name in addresses):
            for name in ("_loaded_at", USERINFO):  # it is asked again, and may leave the latter out then
                about.pop(name, None)
            raise UsageError(f"the provider's {', '.join(addresses)} must all be there, with https")
        listed = about.get("id_token_signing_alg_values_supported") or ("RS256",)
        about["id_token_signing_alg_values_supported"] = [
            algorithm for algorithm in listed if algorithm in ALGORITHMS
        ] or ["RS256"]

    async def _heard(self, answer: Awaitable[Value]) -> Value:
        """What the provider answers, or one sentence."""
        try:
            return await answer
        except JoseError as error:
            raise Forbidden(f"the provider's token is not believed: {_why(error)}") from None
        except AuthlibBaseError as error:
            raise Forbidden(_refusal(str(error.error))) from None
        except (httpx2.HTTPError, ValueError, RuntimeError) as error:
            raise HarnessError(
                f"the provider {self._options.issuer} does not answer as one ({type(error).__name__}): nobody can sign in now"
            ) from None


def _together(token: Mapping[str, Any], userinfo: Mapping[str, Any]) -> dict[str, Any]:
    """The token goes before. Whether an address is verified is believed of the one who said that very address."""
    both = {**userinfo, **token}
    if not token.keys() >= set(VERIFIED):
        says = token if token.get("email", userinfo.get("email")) != userinfo.get("email") else userinfo
        both |= {"email_verified": says.get("email_verified")}
    return both


def _why(error: JoseError) -> str:
    if isinstance(error, BadSignatureError | InvalidKeyIdError):
        return "it is signed with a key that is none of the provider's"
    if isinstance(error, ExpiredTokenError):
        return "it has expired: look at the clocks of both machines"
    if isinstance(error, ClaimError):
        return _CLAIMS.get(error.claim, f"its {error.claim} is missing or wrong")
    return f"it cannot be read ({error.error})"


def _refusal(code: str) -> str:
    """What stands in an address is shown only where it looks like a code."""
    if code == "mismatching_state":
        return "this sign-in was not begun in this browser, took longer than ten minutes, or is over already: sign in again"
    shown = code if re.fullmatch(r"[a-z_]{1,40}", code) else "no known reason"
    return f"the provider refused the sign-in ({shown})"
