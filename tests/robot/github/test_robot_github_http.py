"""Requests to a forge that fails, limits, redirects or never ends."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator

import pytest
from fake_github import REPOSITORY, FakeGithub
from starlette.responses import JSONResponse, Response
from submissions import whole

from assay_zoo.robot.config_schema import GithubTable, SecretPlace
from assay_zoo.robot.sources import forge_http
from assay_zoo.robot.sources.forge_http import ForgeHttp
from assay_zoo.robot.sources.github import Github
from assay_zoo.robot.sources.source import SourceFailed


def limited(status: int, headers: dict[str, str], text: str = "no") -> Response:
    return JSONResponse({"message": text}, status, headers=headers)


@pytest.fixture
def patient(fake: FakeGithub, server: tuple[FakeGithub, str]) -> Iterator[tuple[ForgeHttp, list[float]]]:
    """A client, and how long it waited."""
    waits: list[float] = []
    fake.token = "t"
    headers = {"x-github-api-version": "2022-11-28", "authorization": "Bearer t"}
    http = ForgeHttp(server[1], headers, sleep=waits.append)
    yield http, waits
    http.end()


def test_failures_of_the_forge_are_waited_out(fake: FakeGithub, patient: tuple[ForgeHttp, list[float]]) -> None:
    http, waits = patient
    pulls = f"/repos/{REPOSITORY}/pulls/1"
    fake.faults = [("GET", pulls, limited(502, {})), ("GET", pulls, limited(503, {}))]
    assert http.get(pulls)["number"] == 1
    assert waits == [0.5, 1.0]
    fake.faults = [("GET", pulls, limited(429, {"retry-after": "3"}))]
    assert http.get(pulls)["number"] == 1
    assert waits[2:] == [3.0]
    fake.faults = [("PATCH", pulls, limited(403, {"retry-after": "2"}, "secondary rate limit"))]
    http.send("PATCH", pulls, {"state": "closed"})
    assert waits[3:] == [2.0], "what was refused was not done: it may be sent again"


def test_a_long_rate_limit_puts_the_work_off(fake: FakeGithub, patient: tuple[ForgeHttp, list[float]]) -> None:
    http, waits = patient
    pulls, reset = f"/repos/{REPOSITORY}/pulls/1", str(int(time.time()) + 1800)
    for answer, low, high in (
        (limited(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}), 900, 1801),
        (limited(429, {"retry-after": "120"}), 120, 120),
        (limited(403, {}, "You have exceeded a secondary rate limit"), 60, 60),
        (limited(429, {"retry-after": "\u00b2"}), 60, 60),
        (limited(429, {"retry-after": "9" * 400}), 86_400, 86_400),
    ):
        fake.faults = [("GET", pulls, answer)]
        with pytest.raises(SourceFailed, match="asks to wait") as error:
            http.get(pulls)
        assert low <= error.value.after_s <= high
    assert waits == []
    fake.faults = [("GET", pulls, limited(403, {}, "Resource not accessible by integration"))]
    with pytest.raises(SourceFailed, match="403: Resource not accessible") as error:
        http.get(pulls)
    assert error.value.after_s == 0


def test_what_may_have_been_done_is_not_sent_twice(fake: FakeGithub, github: Github) -> None:
    fake.faults = [("POST", "/statuses/", limited(502, {}))]
    with pytest.raises(SourceFailed, match="502"):
        github.report(whole(), "")
    assert len([path for method, path in fake.log if method == "POST"]) == 1


def test_a_next_page_at_another_host_is_not_followed(fake: FakeGithub, github: Github) -> None:
    fake.faults = [("GET", "/pulls", JSONResponse([], headers={"link": '<http://127.0.0.1:9/steal>; rel="next"'}))]
    with pytest.raises(SourceFailed, match="leads to another host"):
        github.heads()


def test_a_renamed_repository_is_followed_with_the_same_request(
    fake: FakeGithub, server: tuple[FakeGithub, str]
) -> None:
    fake.renamed_from = "zoo/old-name"
    for number in range(2, 151):
        fake.add_pull(number, f"{number:040x}")
    opened = Github(GithubTable(repository="zoo/old-name", api=server[1], token=SecretPlace(env="X")), "github_pat_1")
    try:
        assert len(opened.heads()) == 150, "what was asked for goes along, page after page"
        opened.report(whole("decline", reasons=["bad"]), "")
        opened.report(whole("decline", reasons=["worse"]), "")
    finally:
        opened.end()
    assert len(fake.comments) == 1
    assert "worse" in fake.comments[0]["body"]
    assert fake.refused == []


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_is_not_kept(
    fake: FakeGithub, patient: tuple[ForgeHttp, list[float]], packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forge_http, "ANSWER_BYTES", 1_000_000)
    body = b'"' + b"a" * 1_100_000 + b'"'
    headers = {"content-encoding": "gzip"} if packed else {}
    fake.faults = [("GET", "/user", Response(gzip.compress(body) if packed else body, headers=headers))]
    with pytest.raises(SourceFailed, match="answers with more than 1000000 bytes"):
        patient[0].get("/user")
    small = b'{"login": "' + b"a" * 1000 + b'"}'
    fake.faults = [("GET", "/user", Response(gzip.compress(small) if packed else small, headers=headers))]
    assert patient[0].get("/user")["login"] == "a" * 1000


def test_a_token_is_not_sent_where_a_redirect_leads_to_another_host(fake: FakeGithub, github: Github) -> None:
    fake.faults = [("GET", "/pulls", Response(status_code=307, headers={"location": "https://elsewhere.example/x"}))]
    with pytest.raises(SourceFailed, match="leads to another host: nothing is sent there"):
        github.heads()
    fake.faults = [
        ("GET", "/pulls", Response(status_code=301, headers={"location": fake_path(fake)})) for _ in range(9)
    ]
    with pytest.raises(SourceFailed, match="was answered 301"):
        github.heads()
    assert len(fake.faults) == 5, "it does not turn in a circle"


def fake_path(fake: FakeGithub) -> str:
    return f"/repos/{fake.repository}/pulls?state=open&base=main"
