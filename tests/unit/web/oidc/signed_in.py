"""A dashboard whose users sign in at a provider."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
from starlette.testclient import TestClient

from assay.web.actions import Actions
from assay.web.app import make_app
from assay.web.oidc import oidc_of
from assay.web.sign_in import sign_in_of
from assay.web.site import Site
from openid_provider import CLIENT, SECRET, Provider

HERE = "http://127.0.0.1:8437"


def dashboard(
    provider: Provider,
    folder: Path,
    site: Site,
    operators: tuple[str, ...] = ("ann@example.org",),
    claim: str = "email",
    **more: Any,
) -> TestClient:
    oidc = oidc_of(provider.issuer, CLIENT, claim, HERE, {"ASSAY_OIDC_SECRET": SECRET}, **more)
    sign_in = sign_in_of(["10.0.0.7"], operators, approvers=["group:release"], oidc=oidc)
    assert sign_in is not None
    app = make_app(site, {"127.0.0.1", "localhost"}, Actions(str(folder), folder, sign_in))
    return TestClient(app, HERE, raise_server_exceptions=False, follow_redirects=False)


def sign_in(client: TestClient, to: str = "/alerts") -> httpx.Response:
    """The way of a browser: here, to the provider, back."""
    begun = client.get("/sign-in", params={"to": to})
    assert begun.status_code == 303, begun.text
    there = httpx.get(begun.headers["location"])
    return client.get(there.headers["location"])


def token(client: TestClient) -> str:
    match = re.search(r'name="token" value="(\w+)"', client.get("/").text)
    return match[1] if match else ""
