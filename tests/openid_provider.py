"""A small OpenID provider on the loopback address: it signs with keys of its own, asks for PKCE and the client's secret, takes a code once,
and tells what it is told to tell wrongly."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "assay-dashboard", "a secret of 24 letters.."
Claims = dict[str, Any]
FIRST = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})


@dataclass
class Provider:
    """`claims` are added to each token (None: left out). `key` signs, `known` are published."""

    issuer: str = ""
    claims: Claims = field(default_factory=lambda: {"email": "ann@example.org", "email_verified": True})
    userinfo: Claims | None = None
    about: Claims = field(default_factory=dict)
    key: Any = field(default_factory=lambda: FIRST)
    known: list[Any] = field(default_factory=list)
    algorithm: str = "RS256"
    refuses: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = [self.key]

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._describe),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/keys", self._keys),
                Route("/userinfo", self._userinfo),
            ]
        )

    async def _describe(self, _: Request) -> Response:
        addresses = {
            name: f"{self.issuer}{path}"
            for name, path in (
                ("authorization_endpoint", "/authorize"),
                ("token_endpoint", "/token"),
                ("jwks_uri", "/keys"),
            )
        }
        more = {"userinfo_endpoint": f"{self.issuer}/userinfo"} if self.userinfo is not None else {}
        return JSONResponse({"issuer": self.issuer, **addresses, **more, **self.about})

    async def _authorize(self, request: Request) -> Response:
        """Whoever comes is signed in: who they are is asked elsewhere."""
        asked = dict(request.query_params)
        if self.refuses:
            return RedirectResponse(
                f"{asked['redirect_uri']}?{urlencode({'error': self.refuses, 'state': asked['state']})}"
            )
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self.codes.pop(str(form.get("code")), None)
        proof = base64.urlsafe_b64encode(hashlib.sha256(str(form.get("code_verifier")).encode()).digest()).rstrip(b"=")
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {basic}":
            return JSONResponse({"error": "invalid_client"}, 401)
        if asked is None or proof.decode() != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.asked.append(str(form["code"]))
        now = int(time.time())
        said = {
            "iss": self.issuer, "sub": "248289761001", "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **self.claims,
        }  # fmt: skip
        header = {"alg": self.algorithm, **({"kid": self.key.kid} if self.key.kid else {})}
        token = self._signed(header, {name: value for name, value in said.items() if value is not None})
        return JSONResponse({"access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": token})

    def _signed(self, header: dict[str, str], said: Claims) -> str:
        if self.algorithm != "none":
            return jwt.encode(header, said, self.key, algorithms=[self.algorithm])
        parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, said))
        return ".".join((*parts, ""))

    async def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.known if not isinstance(key, OctKey)]})

    async def _userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer access"
        return JSONResponse(self.userinfo or {})


@contextmanager
def running(provider: Provider) -> Iterator[Provider]:
    """Until the end of the block; its issuer is its address."""
    config = uvicorn.Config(provider.app(), host="127.0.0.1", port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the provider does not start"
        time.sleep(0.01)
    provider.issuer = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(30)
