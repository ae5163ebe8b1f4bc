"""Who may change what: nobody unless a proxy is named, and then operators alone, with a form of ours; each change leaves a line."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.core.alert import Alert, AlertKind
from assay.errors import UsageError
from assay.stores.sql import SqlStore
from assay.web.actions import AUDIT, Actions
from assay.web.app import make_app
from assay.web.sign_in import sign_in_of
from assay.web.site import Site
from dashboard_history import HOSTILE, RED, run_id

PROXY, STRANGER = "10.0.0.7", "10.0.0.8"
FORM = {"id": "7c1d90be", "days": "3", "reason": "known, <b>issue 7</b>"}


@pytest.fixture
def folder(history: str, tmp_path: Path) -> Path:
    made = tmp_path / "writable"
    shutil.copytree(history, made)
    store = SqlStore(str(made / "history.db"))
    alert = Alert(
        *("7c1d90be", AlertKind.BLOCK, "mismatch", f"{RED} on tvm: {HOSTILE}", {f"{RED}|tvm|verify": 1}),
        *(run_id(11), "2026-11-21T02:15:00+00:00", run_id(11), "2026-11-21T02:15:00+00:00"),
    )
    store.change_alerts(lambda alerts: [*alerts, alert])
    store.close()
    return made


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    sign_in = sign_in_of(["10.0.0.0/29"], ["ann"])
    assert sign_in is not None
    with open_to_read(str(folder)) as store:
        yield make_app(Site(store, folder), {"testserver"}, Actions(str(folder), folder, sign_in))


@pytest.fixture
def ask(app: Starlette) -> object:
    def asked(method: str, path: str, user: str = "", address: str = PROXY, **more: object) -> object:
        client = TestClient(app, client=(address, 5000), raise_server_exceptions=False, follow_redirects=False)
        headers = {**({"X-Forwarded-User": user} if user else {}), **more.pop("headers", {})}  # type: ignore[dict-item]
        return client.request(method, path, headers=headers, **more)  # type: ignore[arg-type]

    return asked


def token(ask: object, user: str) -> str:
    match = re.search(r'name="token" value="(\w+)"', ask("GET", "/alerts", user).text)  # type: ignore[operator]
    return match[1] if match else ""


def test_an_operator_mutes_and_unmutes(ask, folder: Path) -> None:  # type: ignore[no-untyped-def]
    assert ask("POST", "/alerts/mute", "ann", data={**FORM, "token": token(ask, "ann")}).status_code == 303
    text = ask("GET", "/alerts", "ann").text
    assert "by ann: known, &lt;b&gt;issue 7&lt;/b&gt;" in text
    assert "<b>issue" not in text
    assert ask("POST", "/alerts/unmute", "ann", data={"id": FORM["id"], "token": token(ask, "ann")}).status_code == 303
    assert "Muted until" not in ask("GET", "/alerts").text
    lines = [json.loads(line) for line in (folder / AUDIT).read_text().splitlines()]
    assert [(line["who"], line["action"], line["about"]) for line in lines] == [
        ("ann", "mute", "7c1d90be"),
        ("ann", "unmute", "7c1d90be"),
    ]


@pytest.mark.parametrize(
    ("user", "change", "code", "said"),
    [
        ("bob", {}, 403, "may change nothing"),
        ("", {}, 403, "nobody is signed in"),
        ("ann", {"token": "0" * 64}, 403, "not of this server"),
        ("ann", {"token": ""}, 403, "not of this server"),
        ("ann", {"days": "0"}, 400, "from 1 to 365"),
        ("ann", {"days": "9" * 40}, 400, "from 1 to 365"),
        ("ann", {"days": "\u00b2"}, 400, "from 1 to 365"),
        ("ann", {"reason": "\x00"}, 400, "needs a reason"),
        ("ann", {"reason": " "}, 400, "needs a reason"),
        ("ann", {"id": "nobody"}, 400, "no alert has the id"),
        ("ann", {"reason": "x" * 9000}, 400, "at most 8,192 bytes"),
    ],
)
def test_what_is_refused_changes_nothing(
    ask, folder: Path, user: str, change: dict[str, str], code: int, said: str
) -> None:  # type: ignore[no-untyped-def]
    form = {**FORM, "token": token(ask, "ann"), **change}
    answer = ask("POST", "/alerts/mute", user, data=form)
    assert answer.status_code == code
    assert said in answer.text
    assert "Muted until" not in ask("GET", "/alerts").text


@pytest.mark.parametrize(("user", "code", "most_chunks"), [("ann", 400, 10), ("bob", 403, 0), ("", 403, 0)])
@pytest.mark.parametrize("length", [b"0000000001000000", b"10", b""])
def test_a_body_without_end_is_not_read_to_its_end(
    app: Starlette, user: str, code: int, most_chunks: int, length: bytes
) -> None:
    asked, sent = [], []

    async def receive() -> dict[str, object]:
        asked.append(1)
        return {"type": "http.request", "body": b"a=" + b"b" * 1022, "more_body": len(asked) < 1000}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    given = {b"host": b"testserver", b"content-type": b"application/x-www-form-urlencoded", b"content-length": length}
    headers = [(name, value) for name, value in {**given, b"x-forwarded-user": user.encode()}.items() if value]
    scope = {
        "type": "http", "method": "POST", "path": "/alerts/mute", "raw_path": b"/alerts/mute", "query_string": b"", "headers": headers,
        "client": (PROXY, 5000), "server": ("testserver", 80), "scheme": "http", "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    assert (sent[0]["status"], len(asked) <= most_chunks) == (code, True)


def test_a_form_of_too_many_fields_is_refused(ask) -> None:  # type: ignore[no-untyped-def]
    answer = ask("POST", "/alerts/mute", "ann", data={**{f"a{n}": "1" for n in range(30)}, "token": token(ask, "ann")})
    assert (answer.status_code, "at most 20 fields" in answer.text) == (400, True)


def test_the_form_of_another_site_is_refused(ask) -> None:  # type: ignore[no-untyped-def]
    form = {**FORM, "token": token(ask, "ann")}
    assert ask("POST", "/alerts/mute", "ann", data=form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert ask("POST", "/alerts/mute", "ann", json=form).status_code == 400


def test_a_header_of_a_stranger_is_refused(ask) -> None:  # type: ignore[no-untyped-def]
    for path in ("/", "/alerts", "/api/v1/now"):
        assert ask("GET", path, "ann", STRANGER).status_code == 403
        assert ask("GET", path, "", STRANGER).status_code == 200
    assert not token(ask, "bob")


def test_a_change_that_cannot_be_written_down_is_not_made(ask, folder: Path) -> None:  # type: ignore[no-untyped-def]
    (folder / AUDIT).mkdir()
    answer = ask("POST", "/alerts/mute", "ann", data={**FORM, "token": token(ask, "ann")})
    assert answer.status_code == 503
    assert "nothing was changed" in answer.text
    assert "Muted until" not in ask("GET", "/alerts").text


def test_without_a_proxy_there_is_nothing_to_change(client: TestClient) -> None:
    assert client.post("/alerts/mute", data=FORM, headers={"X-Forwarded-User": "ann"}).status_code == 404
    with pytest.raises(UsageError, match="needs --trust-proxy"):
        sign_in_of([], ["ann"])
    with pytest.raises(UsageError, match="give an address"):
        sign_in_of(["proxy.example"], [])
    assert sign_in_of([], []) is None
