"""The robot's pages over a real queue: what they say, what they refuse, and that nothing of a third party is ever markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from page_queue import HOSTILE, filled
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot.pages import page_routes
from assay_zoo.robot.pages.format import ago, figures, followed, took
from assay_zoo.robot.pages.views import groups

PAGES = ("/", "/submissions/{}")
Served = tuple[TestClient, dict[str, int]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    queue, ids = filled(tmp_path_factory.mktemp("pages"))
    with TestClient(Starlette(routes=page_routes(queue, lambda: "Digits zoo"))) as client:
        yield client, ids
    queue.database.close()


def body(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_queue_tells_what_runs_waits_and_was_decided(served: Served) -> None:
    client, ids = served
    now, closed = body(client, "/").split('id="decided"')
    assert f"/submissions/{ids['rerun']}" in now
    assert f"/submissions/{ids['waiting']}" in now
    for kind in ("promoted", "declined", "person", "superseded", "withdrawn"):
        assert f'/submissions/{ids[kind]}"' in closed
        assert f'/submissions/{ids[kind]}"' not in now
    twin = client.get("/queue.json").json()
    assert [submission["id"] for submission in twin["running"]] == [ids["rerun"]]
    assert [submission["id"] for submission in twin["waiting"]] == [ids["waiting"]]
    assert [submission["id"] for submission in twin["closed"]] == sorted(
        (submission["id"] for submission in twin["closed"]), reverse=True
    )


def test_a_submission_shows_every_reason_and_where_it_stands(served: Served) -> None:
    client, ids = served
    text = body(client, f"/submissions/{ids['declined']}")
    assert "the section References is missing" in text
    assert "README.md:12" in text
    assert "weights.bin is a hard link" in text
    assert re.search(r'class="track".*?files.*?failed.*?artifacts.*?failed.*?compliance.*?skipped', text, re.DOTALL)
    whole = client.get(f"/submissions/{ids['declined']}.json").json()
    assert whole["decisions"][0]["answer"] == "decline"
    assert whole["decisions"][0]["checks"][1]["line"] == 12
    promoted = body(client, f"/submissions/{ids['promoted']}")
    assert "<b>Merged</b>" in promoted
    assert "61.8 kB" in promoted


def test_a_decision_of_an_earlier_round_does_not_pass_for_todays(served: Served) -> None:
    client, ids = served
    assert "decision of the round before" in body(client, f"/submissions/{ids['rerun']}")
    assert "newer commit took its place" in body(client, f"/submissions/{ids['superseded']}")


@pytest.mark.parametrize("page", PAGES)
def test_nothing_of_a_stranger_is_markup(served: Served, page: str) -> None:
    client, ids = served
    answer = client.get(page.format(ids["hostile"]))
    assert answer.status_code == 200
    assert "<img src=x" not in answer.text
    assert "javascript:" not in answer.text
    assert "\u202e" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script|<[^>]* (on\w+|style)=", answer.text)


def test_a_badge_of_a_version_that_was_rolled_back_says_so(tmp_path: Path) -> None:
    queue, _ = filled(tmp_path)
    asked = []

    def serves(name: str, digest: str) -> bool:
        asked.append((name, digest))
        return False

    with TestClient(Starlette(routes=page_routes(queue, serves=serves))) as client:
        assert client.get("/badge/digits-classifier.json").json()["message"] == "rolled back"
        assert "promoted" not in client.get("/badge/digits-classifier.svg").text
        assert client.get("/badge/linked-weights.json").json()["message"] == "decline"
    assert set(asked) == {("digits-classifier", "5f" * 32), ("digits-classifier", "")}
    queue.database.close()


def test_a_badge_says_what_is_served_or_how_the_newest_submission_ended(served: Served) -> None:
    client, _ = served
    answer = client.get("/badge/digits-classifier.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    # Version 1.1 needs a person: what is served is 1.0 all the same.
    assert "promoted" in "".join(ElementTree.fromstring(answer.text).itertext())
    assert client.get("/badge/linked-weights.json").json()["message"] == "decline"
    assert "decline" in client.get(f"/badge/{quote(HOSTILE, '')}.svg").text
    assert client.get("/badge/nobody.svg").status_code == 404


def test_a_log_has_its_lines_in_order(served: Served) -> None:
    client, ids = served
    lines = client.get(f"/submissions/{ids['declined']}.json").json()["log"]
    assert len(lines) > 2
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    text = body(client, f"/submissions/{ids['declined']}")
    places = [text.index(line["text"]) for line in lines]
    assert places == sorted(places)


def test_a_page_is_asked_for_again_while_something_may_happen(served: Served) -> None:
    client, ids = served
    waits = {address: "refresh" in body(client, address) for address in ("/", "/?before=3")}
    assert waits == {"/": True, "/?before=3": False}
    shown = {kind: "refresh" in body(client, f"/submissions/{ids[kind]}") for kind in ("waiting", "rerun", "declined")}
    assert shown == {"waiting": True, "rerun": True, "declined": False}


@pytest.mark.parametrize(
    "address",
    [
        "/submissions/0", "/submissions/999", "/submissions/-1", "/submissions/x", "/submissions/" + "9" * 6000,
        "/submissions/999.json", "/badge/nobody.json", "/badge/%00.svg",
        "/static/..%2frender.py", "/static/%2e%2e/render.py", "/static//etc/passwd",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(served: Served, address: str) -> None:
    client, _ = served
    answer = client.get(address)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


def test_only_reading_is_answered(served: Served) -> None:
    client, ids = served
    assert client.post(f"/submissions/{ids['declined']}").status_code == 405
    assert client.get("/?before=abc").status_code == 200
    older = client.get(f"/queue.json?before={ids['person']}").json()["closed"]
    assert {submission["id"] for submission in older} == {ids["promoted"], ids["declined"]}


def test_an_address_of_a_stranger_is_followed_only_where_it_is_one() -> None:
    assert followed(" https://forge.example/x ") == "https://forge.example/x"
    for address in (
        "javascript:alert(1)",
        "data:text/html,x",
        "//forge.example",
        "http://",
        "https://[",
        "",
        "ftp://x/y",
    ):
        assert followed(address) == ""


def test_a_group_is_skipped_only_where_all_of_it_was() -> None:
    skipped, passed = (
        Check(name="performance.x", outcome=check_outcome, sentence="")
        for check_outcome in (CheckOutcome.SKIPPED, CheckOutcome.PASSED)
    )
    outcomes = {group.name: group.outcome for group in groups([skipped, passed])}
    assert outcomes["performance"] == "passed"
    assert outcomes["files"] is None
    assert groups([skipped])[-1].outcome == "skipped"


def test_a_figure_has_the_unit_of_its_name() -> None:
    shown = dict(
        figures({"throughput_per_s": 45284.0, "latency_p50_ms": 0.0221, "size_bytes": 61828, "machine": "x86"})
    )
    assert shown == {
        "throughput_per_s": "45284/s", "latency_p50_ms": "0.0221 ms", "size_bytes": "61.8 kB", "machine": "x86",
    }  # fmt: skip


def test_times_are_in_the_unit_of_a_person() -> None:
    shown = [ago(1000.0, 1000.0 + passed) for passed in (-5, 4, 300, 9000, 500000)]
    assert shown == ["0 s ago", "4 s ago", "5 min ago", "2 h ago", "6 days ago"]
    assert ago(0.0, 5.0) == ""
    assert took(0.0, 5.0) == ""
    assert took(10.0, 75.0) == "1 min 5 s"
