"""Names that are markup, paths that lead elsewhere, and strangers."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from assay.web.address import address
from assay.web.responses import STATIC
from dashboard_history import HOSTILE, RED, WELL, run_id

HOSTILE_RESULT = address("/result", case=HOSTILE, flow="tvm")


RESULT = address("/result", case=RED, flow="tvm")


TREND = address("/trend", case=WELL, flow="tvm", metric="latency", beside="onnxruntime")


HOSTILE_TREND = address("/trend", case=HOSTILE, flow="tvm", metric="seconds")


HOSTILE_SEARCH = address("/search", q=HOSTILE[:12])


PAGES = ("/", "/matrix", "/runs", RESULT, HOSTILE_RESULT, TREND, HOSTILE_TREND, "/compare", HOSTILE_SEARCH)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_markup_and_nothing_is_loaded_from_elsewhere(client: TestClient, path: str) -> None:
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "\x1b" not in answer.text
    tags = Tags()
    tags.feed(answer.text)
    assert [attributes["src"] for tag, attributes in tags.found if tag == "script"] == ["/static/assay.js"]
    for tag, attributes in tags.found:
        assert not {"style", "onclick", "onerror", "onload"} & attributes.keys(), tag
        where = attributes.get("href") or attributes.get("src") or "/"
        assert where.startswith(("/", "#")), where
        assert not where.startswith("//"), where


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/nothing", 404, "no such page"),
        ("/result", 400, "which result?"),
        ("/result?case=a&flow=b", 404, "no run in"),
        (f"{RESULT}&run=20990101T000000-ffffff", 404, "there is no run"),
        ("/matrix?run=nobody", 404, "there is no run"),
        ("/matrix?page=99999999999999999999", 400, "whole number"),
        ("/matrix?page=-1", 400, "whole number"),
        ("/matrix?page=999999", 404, "behind the last one"),
        ("/upgrades?page=777777", 404, "there is no such page: it lies behind the last one"),
        ("/upgrades?id=nobody", 404, "there is no such upgrade"),
        ("/runs?page=999999", 404, "pages reach back"),
        ("/trend", 400, "the trend of what?"),
        (address("/trend", case=WELL, flow="none"), 400, "no run of"),
        (TREND.replace("latency", "laziness"), 400, "the nearest are"),
        (f"/compare?run={run_id(3)}&to={run_id(3)}", 400, "compared with itself"),
        (f"/compare?run={run_id(0)}", 400, "no run before"),
        ("/compare?run=nobody", 404, "there is no run"),
        (f"/search?q={'x' * 300}", 400, "it may have 200"),
        ("/?format=xml", 400, "one of html, json, csv"),
        (f"/matrix?case={'x' * 5000}", 400, "longer than"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(client: TestClient, path: str, code: int, said: str) -> None:
    answer = client.get(path)
    assert answer.status_code == code
    assert said in answer.text
    assert "Traceback" not in answer.text
    if code != 404 or path.startswith(("/result", "/matrix", "/runs")):
        twin = client.get(
            f"/api/v1{'/now' if path.startswith('/?') else ''}{path.replace('/?', '?') if path.startswith('/?') else path}"
        )
        assert twin.status_code in (code, 200)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/..%2fapp.py"]
)
def test_no_file_but_the_own_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.get("/static/assay.css").content == (STATIC / "assay.css").read_bytes()


def test_nothing_but_reading_is_answered(client: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize(
    ("host", "code"),
    [("testserver", 200), ("TESTSERVER:8437", 200), ("evil.example", 421), ("testserver.evil.example", 421), ("", 421)],
)
def test_a_stranger_cannot_give_itself_our_address(client: TestClient, host: str, code: int) -> None:
    assert client.get("/healthz", headers={"host": host}).status_code == code
