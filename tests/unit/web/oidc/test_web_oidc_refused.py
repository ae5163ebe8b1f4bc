"""Sign-ins that prove nobody, and providers that are none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import OctKey, RSAKey
from signed_in import HERE, sign_in, token
from starlette.testclient import TestClient

from assay.errors import UsageError
from assay.web.actions import AUDIT
from assay.web.oidc import oidc_of
from openid_provider import CLIENT, SECRET, Provider

FAULTS = {
    "wrong issuer": ({"iss": "https://elsewhere.example"}, "it is of another issuer"),
    "no issuer": ({"iss": None}, "it is of another issuer"),
    "another client": ({"aud": "other"}, "it is for another client"),
    "another client, for us": ({"aud": "other", "azp": CLIENT}, "it is for another client"),
    "expired": ({"exp": int(time.time()) - 120}, "it has expired"),
    "never expires": ({"exp": None}, "its exp is missing or wrong"),
    "of the future": ({"iat": int(time.time()) + 3600}, "it is of the future"),
    "wrong nonce": ({"nonce": "of another sign-in"}, "it belongs to another sign-in"),
    "no nonce": ({"nonce": None}, "it belongs to another sign-in"),
    "another access token": ({"at_hash": "bm8gc3VjaCB0b2tlbg"}, "it belongs to another access token"),
    "no subject": ({"sub": None}, "its sub is missing or wrong"),
    "no name": ({"email": None}, "says no email of who signs in"),
    "a name that is none": ({"email": ["ann@example.org"]}, "says no email of who signs in"),
    "an address that is not verified": ({"email_verified": False}, "has not verified the address"),
    "an address that says nothing of it": ({"email_verified": "true"}, "has not verified the address"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_token_that_proves_nobody_is_refused(
    provider: Provider, client: TestClient, folder: Path, fault: str
) -> None:
    wrong, said = FAULTS[fault]
    provider.claims |= wrong
    answer = sign_in(client)
    assert (answer.status_code, said in answer.text) == (403, True), answer.text
    assert "assay-session" not in answer.headers.get("set-cookie", "")
    assert not token(client)
    assert not (folder / AUDIT).exists()


def test_a_signature_of_a_stranger_is_refused(provider: Provider, client: TestClient) -> None:
    for kid in ("first", "never published"):
        provider.key = RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})
        assert "a key that is none of the provider" in sign_in(client).text
    provider.known.append(provider.key)
    assert sign_in(client).status_code == 303  # a key that is new is asked for


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_that_anybody_could_sign_is_refused(provider: Provider, client: TestClient, algorithm: str) -> None:
    provider.about = {"id_token_signing_alg_values_supported": ["none", "HS256"]}
    provider.algorithm = algorithm
    provider.key = OctKey.import_key(SECRET)
    assert "the provider&#39;s token is not believed" in sign_in(client).text
    assert not token(client)


def test_a_sign_in_comes_back_to_the_browser_that_began_it_and_once(provider: Provider, client: TestClient) -> None:
    begun = client.get("/sign-in")
    back = httpx.get(begun.headers["location"]).headers["location"]
    kept = dict(client.cookies)
    client.cookies.clear()
    said = "was not begun in this browser"
    assert said in client.get(back).text
    client.cookies.update(kept)
    state = parse_qs(urlsplit(back).query)["state"][0]
    assert said in client.get(back.replace(state, "x" * len(state))).text
    again = client.get("/sign-in")
    back = httpx.get(again.headers["location"]).headers["location"]
    assert client.get(back).status_code == 303
    assert said in client.get(back).text
    assert len(provider.asked) == 1


@pytest.mark.parametrize(("code", "said"), [("access_denied", "(access_denied)"), ("<b>x</b>", "(no known reason)")])
def test_the_provider_refuses(provider: Provider, client: TestClient, code: str, said: str) -> None:
    provider.refuses = code
    answer = sign_in(client)
    assert (answer.status_code, said in answer.text, "<b>x" in answer.text) == (403, True, False)


@pytest.mark.parametrize(
    ("about", "code", "said"),
    [
        ({"issuer": "https://elsewhere.example"}, 400, "the provider calls itself"),
        ({"token_endpoint": "ftp://127.0.0.1/token"}, 400, "must all be there, with https"),
        ({"jwks_uri": ""}, 400, "must all be there, with https"),
        ({"userinfo_endpoint": "ftp://127.0.0.1/userinfo"}, 400, "must all be there, with https"),
        ({"token_endpoint": "http://127.0.0.1:9/token"}, 503, "does not answer as one"),
    ],
)
def test_a_provider_that_is_none(provider: Provider, client: TestClient, about: Any, code: int, said: str) -> None:
    provider.about = about
    begun = client.get("/sign-in")
    answer = client.get(httpx.get(begun.headers["location"]).headers["location"]) if begun.status_code == 303 else begun
    assert (answer.status_code, said in answer.text) == (code, True), answer.text
    provider.about = {}
    assert code == 503 or sign_in(client).status_code == 303  # it is asked again


@pytest.mark.parametrize(
    "to",
    [
        "/sign-in/back?error=access_denied",
        "/sign-in",
        "/nothing",
        "/matrix?case=" + "ü" * 900,
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "evil",
        "/a\nb",
        "/" + "x" * 3000,
    ],
)
def test_nobody_is_sent_elsewhere(client: TestClient, to: str) -> None:
    assert sign_in(client, to).headers["location"] == "/"


def test_who_is_refused_may_try_again(provider: Provider, client: TestClient) -> None:
    provider.refuses = "access_denied"
    refused = sign_in(client, "/matrix")
    assert 'class="who" href="/sign-in"' in refused.text
    provider.refuses = ""
    assert sign_in(client, "/matrix").headers["location"] == "/matrix"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("", "id", "email", ""), "--oidc-client needs --oidc"),
        (("", "", "email", "https://a.example"), "--public-url needs --oidc"),
        (("https://a.example", "", "email", HERE), "--oidc needs --oidc-client"),
        (("http://a.example", "id", "email", HERE), "must be https"),
        (("https://a.example", "id", "email", "http://0.0.0.0:80"), "--public-url is .* must be https"),
        (("https://a.example", "id", "email", "https://b.example/x"), "give an address such as"),
        (("a.example", "id", "email", HERE), "give an address such as"),
    ],
)
def test_what_the_command_refuses(given: tuple[str, str, str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        oidc_of(*given, {})
