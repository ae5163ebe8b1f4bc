"""What each page says of a known history, what it refuses, and that nothing of a third party is ever markup."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from assay.web.address import address
from assay.web.render import STATIC
from dashboard_history import COMMIT, FLAKY, GREEN, HOSTILE, RED, RUNS, UNDECIDED, WELL, run_id

HOSTILE_RESULT = address("/result", case=HOSTILE, flow="tvm")
RESULT = address("/result", case=RED, flow="tvm")
PAGES = ("/", "/matrix", "/runs", RESULT, HOSTILE_RESULT)


def body(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def section(text: str, identity: str) -> str:
    return text.split(f'<h2 id="{identity}">')[1].split("</section>")[0]


def test_now_says_what_is_new_and_what_blocks(client: TestClient) -> None:
    text = body(client, "/")
    assert "Blocked" in text
    assert COMMIT[:12] in text
    assert RED in section(text, "newly-red")
    assert WELL not in section(text, "newly-red")
    assert GREEN in section(text, "newly-green")
    assert RED in section(text, "blocks")
    assert FLAKY in section(text, "flaky")
    assert RED not in section(text, "flaky")
    assert UNDECIDED in section(text, "inconclusive")


def test_now_tells_programs_the_same(client: TestClient) -> None:
    found = client.get("/api/v1/now").json()
    assert found["answer"] == "fail"
    assert {one["case"] for one in found["standing"]["newly_red"]} == {RED, FLAKY}
    (turning,) = found["standing"]["turning"]
    assert (turning["case"], turning["turns"], turning["results"]) == (FLAKY, RUNS - 1, RUNS)
    assert client.get("/?format=json").json() == found


@pytest.mark.parametrize(
    ("query", "cases"),
    [
        ("case=CONV", {RED}),
        ("outcome=mismatch", {RED}),
        ("word=inconclusive", {UNDECIDED}),
        (f"run={run_id(0)}&outcome=crash", {GREEN}),
        (f"run={run_id(0)}&outcome=mismatch", set()),
        ("flow=tvm&word=fail", {RED, FLAKY, HOSTILE}),
        ("case=%25", set()),
    ],
)
def test_the_matrix_shows_what_is_asked_for(client: TestClient, query: str, cases: set[str]) -> None:
    assert set(client.get(f"/api/v1/matrix?{query}").json()["cases"]) == cases
    assert body(client, f"/matrix?{query}").count("<tr><th scope=") == len(cases) + bool(cases)


def test_a_cell_leads_to_its_result(client: TestClient) -> None:
    text = body(client, "/matrix")
    links = re.findall(r'class="cell" href="([^"]+)"', text)
    assert len(links) == 18
    for link in links:
        body(client, link.replace("&amp;", "&"))


def test_a_result_has_all_that_is_known(client: TestClient) -> None:
    text = body(client, RESULT)
    assert "an output differs" in text  # the sentence of the table of outcomes
    assert "assay check" in text  # the repro line
    assert "4.250032" in text  # a worst element
    assert text.count("bar-mark") > 10  # histograms and stages
    assert text.count('class="past"') == 1
    assert 'aria-current="true"' in text
    measured = body(client, address("/result", case=WELL, flow="tvm"))
    assert 'class="dots"' in measured
    assert "Median" in measured


def test_a_result_of_an_earlier_run_is_judged_by_itself(client: TestClient) -> None:
    now, before = (client.get(f"/api/v1{RESULT}&run={run_id(n)}").json() for n in (RUNS - 1, 0))
    assert (now["verdict"], before["verdict"]) == ("fail", "pass")


def test_the_runs_are_listed_newest_first(client: TestClient) -> None:
    found = client.get("/api/v1/runs").json()["runs"]
    assert [one["id"] for one in found] == [run_id(number) for number in reversed(range(RUNS))]


@pytest.mark.parametrize("path", PAGES)
def test_csv_has_a_head_and_no_formula(client: TestClient, path: str) -> None:
    answer = client.get(path + ("&" if "?" in path else "?") + "format=csv")
    head, *lines = csv.reader(io.StringIO(answer.text))
    assert lines
    assert all(len(line) == len(head) for line in lines)
    assert answer.headers["content-disposition"].startswith("attachment")
    assert not any(cell.startswith(("=", "@")) for line in lines for cell in line)


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
    assert [found["src"] for tag, found in tags.found if tag == "script"] == ["/static/assay.js"]
    for tag, found in tags.found:
        assert not {"style", "onclick", "onerror", "onload"} & found.keys(), tag
        where = found.get("href") or found.get("src") or "/"
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
        ("/runs?page=999999", 404, "pages reach back"),
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
