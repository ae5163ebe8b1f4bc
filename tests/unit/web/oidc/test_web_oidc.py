"""Signing in with an OpenID provider that really signs: who may do what then, and each way in which an answer proves nobody."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from signed_in import HERE, dashboard, sign_in, token
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.errors import UsageError
from assay.web.actions import AUDIT, Actions
from assay.web.app import make_app
from assay.web.begun import Begun
from assay.web.oidc import oidc_of
from assay.web.sessions import Sessions
from assay.web.sign_in import sign_in_of
from assay.web.site import Site
from dashboard_history import WELL, run_id
from openid_provider import CLIENT, Provider

POINT = {"case": WELL, "flow": "tvm", "run": run_id(3)}


@pytest.mark.heavy
def test_who_signs_in_may_do_what_their_name_may(client: TestClient, folder: Path) -> None:
    assert 'href="/sign-in?to=' in client.get("/").text
    answer = sign_in(client, "/matrix?case=relu")
    assert (answer.status_code, answer.headers["location"]) == (303, "/matrix?case=relu")
    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in ("assay-session=", "HttpOnly", "SameSite=lax", "Max-Age=28800"))
    page = client.get("/")
    assert "ann@example.org" in page.text
    assert page.headers["cache-control"] == "private, no-cache"
    form = {**POINT, "text": "new compiler", "token": token(client)}
    assert client.post("/annotations", data=form).status_code == 303
    assert client.post("/approve", data={**POINT, "reason": "x", "token": token(client)}).status_code == 403
    lines = [json.loads(line) for line in (folder / AUDIT).read_text().splitlines()]
    assert [(line["who"], line["action"]) for line in lines] == [
        ("ann@example.org", "sign-in"),
        ("ann@example.org", "annotate"),
    ]
    client.post("/sign-out", data={"token": token(client)})
    last = json.loads((folder / AUDIT).read_text().splitlines()[-1])
    assert (last["who"], last["action"]) == ("ann@example.org", "sign-out")


def test_who_signs_out_is_nobody_at_once(client: TestClient) -> None:
    sign_in(client)
    kept = dict(client.cookies)
    form = {**POINT, "text": "x", "token": token(client)}
    assert client.post("/sign-out", data={"token": "0" * 64}).status_code == 403
    assert (
        client.post("/sign-out", data={"token": token(client)}, headers={"sec-fetch-site": "cross-site"}).status_code
        == 403
    )
    assert client.post("/sign-out", data={"token": token(client)}).headers["location"] == "/"
    assert not client.cookies
    client.cookies.update(kept)  # a copy of the cookie is worth nothing
    refused = client.post("/annotations", data=form)
    assert (refused.status_code, "sign in first" in refused.text) == (403, True)


def test_a_group_of_the_provider_has_a_role(provider: Provider, client: TestClient) -> None:
    provider.claims |= {"email": "eve@example.org", "groups": ["staff", "release", 7]}
    sign_in(client)
    refused = client.post("/approve", data={**POINT, "reason": "x", "case": "relu", "token": token(client)})
    assert (refused.status_code, "measured no engine" in refused.text) == (400, True), refused.text


def test_a_name_that_looks_like_a_group_is_none(provider: Provider, client: TestClient) -> None:
    provider.claims |= {"email": "group:release"}
    sign_in(client)
    assert client.post("/approve", data={**POINT, "reason": "x", "token": token(client)}).status_code == 403


def test_what_the_token_leaves_out_is_asked_of_the_provider(provider: Provider, client: TestClient) -> None:
    provider.claims, provider.userinfo = {}, {"sub": "248289761001", "email": "ann@example.org", "email_verified": True}
    assert sign_in(client).status_code == 303
    provider.userinfo["sub"] = "another"
    assert "twice, and not the same" in sign_in(client).text


def test_whether_an_address_is_verified_may_be_in_userinfo_alone(provider: Provider, client: TestClient) -> None:
    provider.claims = {"email": "ann@example.org"}
    provider.userinfo = {"sub": "248289761001", "email": "ann@example.org", "email_verified": True}
    assert sign_in(client).status_code == 303
    provider.userinfo["email"] = "eve@example.org"  # that one is verified, the one of the token is not
    assert "has not verified the address" in sign_in(client).text


def test_groups_may_be_in_userinfo_alone(provider: Provider, folder: Path) -> None:
    provider.userinfo = {"sub": "248289761001", "teams": ["release"]}
    with open_to_read(str(folder)) as store:
        site = Site(store, folder)
        for asks, said in ((True, "measured no engine"), (False, "may approve nothing")):
            client = dashboard(provider, folder, site, groups="teams", asks_groups=asks, scope="openid email teams")
            begun = client.get("/sign-in").headers["location"]
            assert parse_qs(urlsplit(begun).query)["scope"] == ["openid email teams"]
            sign_in(client)
            form = {**POINT, "reason": "x", "case": "relu", "token": token(client)}
            assert said in client.post("/approve", data=form).text


def test_without_the_provider_all_can_be_read(folder: Path) -> None:
    gone = Provider(issuer="http://127.0.0.1:9")
    with open_to_read(str(folder)) as store:
        client = dashboard(gone, folder, Site(store, folder))
        assert client.get("/").status_code == 200
        answer = client.get("/sign-in")
    assert (answer.status_code, "nobody can sign in now" in answer.text) == (503, True)


def test_a_role_of_a_group_needs_a_provider() -> None:
    for roles in ((["group:x"], []), ([], ["group:x"])):
        with pytest.raises(UsageError, match="group:x needs --oidc ISSUER"):
            sign_in_of(["10.0.0.7"], roles[0], approvers=roles[1])


def test_the_longest_page_to_come_back_to_fits_into_a_cookie(client: TestClient) -> None:
    begun = client.get("/sign-in", params={"to": "/matrix?case=" + "ü" * 400})
    (cookie,) = (item.value for item in client.cookies.jar)
    assert len(cookie or "") < 3800, "browsers keep 4,096 characters"
    back = httpx.get(begun.headers["location"]).headers["location"]
    assert client.get(back).headers["location"].startswith("/matrix?case=")


def test_what_was_begun_is_read_by_this_server_alone_and_ends() -> None:
    now = [0.0]
    begun = Begun(600, lambda: now[0])
    word = begun.closed({"code_verifier": "secret"})
    assert "secret" not in base64.urlsafe_b64decode(word.split(".")[3] + "==").decode("latin-1")
    assert begun.opened(word) == {"code_verifier": "secret"}
    assert len({begun.closed({}) for _ in range(3000)}) == 3000  # nobody's goes because others begin
    assert begun.opened(word) == {"code_verifier": "secret"}
    assert begun.opened(word[:-5] + "AAAAA") is None
    assert begun.opened("") is None
    assert Begun(600, lambda: now[0]).opened(word) is None
    now[0] = 600.0
    assert begun.opened(word) is None


def test_who_signs_in_anew_ends_the_session_before(client: TestClient) -> None:
    sign_in(client)
    kept = dict(client.cookies)
    sign_in(client)
    client.cookies.clear()
    client.cookies.update(kept)
    assert not token(client)


def test_a_browser_that_calls_another_name_is_sent_to_the_public_address_once(client: TestClient) -> None:
    sent = client.get("/sign-in", params={"to": "/matrix"}, headers={"host": "localhost:8437"})
    assert (sent.status_code, sent.headers["location"]) == (303, f"{HERE}/sign-in?to=%2Fmatrix&sent=1")
    assert "set-cookie" not in sent.headers
    again = client.get(sent.headers["location"], headers={"host": "localhost:8437"})  # a proxy may say another name
    assert "/authorize?" in again.headers["location"]


def test_whom_the_proxy_names_cannot_sign_out_here(folder: Path, provider: Provider) -> None:
    with open_to_read(str(folder)) as store:
        app = dashboard(provider, folder, Site(store, folder)).app
        client = TestClient(app, HERE, client=("10.0.0.7", 1))
        page = client.get("/", headers={"X-Forwarded-User": "ann@example.org"}).text
        assert "Sign out" not in page
        assert "ann@example.org" in page


def test_the_header_of_a_stranger_is_refused_beside_a_provider(client: TestClient) -> None:
    assert client.get("/", headers={"X-Forwarded-User": "ann@example.org"}).status_code == 403


def test_cookies_of_https_are_of_this_host_alone(provider: Provider, folder: Path) -> None:
    oidc = oidc_of(provider.issuer, CLIENT, "email", "https://assay.example", {})
    sign_in = sign_in_of([], [], oidc=oidc)
    with open_to_read(str(folder)) as store:
        app = make_app(Site(store, folder), {"assay.example"}, Actions(str(folder), folder, sign_in))  # type: ignore[arg-type]
        answer = TestClient(app, "https://assay.example", follow_redirects=False).get("/sign-in")
    assert re.match(r"__Host-assay-begun=\S+; HttpOnly; .*Path=/; SameSite=lax; Secure", answer.headers["set-cookie"])
    assert "redirect_uri=https%3A%2F%2Fassay.example%2Fsign-in%2Fback" in answer.headers["location"]


def test_sessions_end() -> None:
    now = [0.0]
    kept: Sessions[str] = Sessions(10, 2, lambda: now[0])
    words = [kept.open(name) for name in ("a", "b", "c")]
    assert [kept.get(word) for word in words] == [None, "b", "c"]
    assert (kept.take(words[1]), kept.take(words[1])) == ("b", None)
    now[0] = 10.0
    assert kept.get(words[2]) is None


def test_a_word_is_taken_once() -> None:
    def slow() -> float:
        time.sleep(0.0002)
        return 0.0

    kept: Sessions[str] = Sessions(10, 200, slow)
    words = [kept.open("a") for _ in range(200)]
    taken: list[str] = []
    together = threading.Barrier(2, timeout=300)

    def take() -> None:
        for word in words:
            together.wait()
            taken.extend([word] if kept.take(word) else ())

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(taken) == len(words)
