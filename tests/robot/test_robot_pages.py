"""The robot's pages over a real queue: what they say, what they refuse, and that nothing of a third party is ever markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from page_queue import filled
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assay_zoo.robot.pages import page_routes

Served = tuple[TestClient, dict[str, int]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    queue, ids = filled(tmp_path_factory.mktemp("pages"))
    with TestClient(Starlette(routes=page_routes(queue, lambda: "Digits <zoo>"))) as client:
        yield client, ids
    queue.database.close()


def body(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_queue_tells_what_runs_waits_and_was_decided(served: Served) -> None:
    client, ids = served
    now, closed = body(client, "/").split("<h2>Closed</h2>")
    assert f"/submissions/{ids['rerun']}" in now
    assert f"/submissions/{ids['waiting']}" in now
    for kind in ("promoted", "declined", "person", "superseded", "withdrawn"):
        assert f'/submissions/{ids[kind]}"' in closed
        assert f'/submissions/{ids[kind]}"' not in now
    twin = client.get("/queue.json").json()
    assert [submission["id"] for submission in twin["running"]] == [ids["rerun"]]
    assert [submission["id"] for submission in twin["waiting"]] == [ids["waiting"]]
    known = [submission["id"] for submission in twin["closed"]]
    assert known == sorted(known, reverse=True)


def test_a_submission_shows_every_reason_and_where_it_stands(served: Served) -> None:
    client, ids = served
    text = body(client, f"/submissions/{ids['declined']}")
    assert "the section References is missing" in text
    assert "README.md:12" in text
    assert "weights.bin is a hard link" in text
    whole = client.get(f"/submissions/{ids['declined']}.json").json()
    assert whole["decisions"][0]["answer"] == "decline"
    assert whole["decisions"][0]["checks"][1]["line"] == 12
    places = [text.replace("\u200b", "").rindex(line["text"]) for line in whole["log"]]
    assert len(places) > 2
    assert places == sorted(places)
    assert "In the zoo by commit" in body(client, f"/submissions/{ids['promoted']}")
    assert "Earlier rounds" in body(client, f"/submissions/{ids['rerun']}")
    assert "newer commit" in body(client, f"/submissions/{ids['superseded']}")


@pytest.mark.parametrize("page", ["/", "/submissions/{}"])
def test_nothing_of_a_stranger_is_markup(served: Served, page: str) -> None:
    client, ids = served
    answer = client.get(page.format(ids["hostile"]))
    assert answer.status_code == 200
    assert "Digits &lt;zoo&gt;" in answer.text
    assert "<img" not in answer.text
    assert "javascript:" not in answer.text
    assert "\u202e" not in answer.text
    assert set(re.findall(r'href="([^"]*)"', answer.text)) <= {
        "/style.css", "/", *(f"/submissions/{number}" for number in ids.values()),
    }  # fmt: skip
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script|<[^>]* on\w+=", answer.text)


def test_a_page_is_asked_for_again_while_something_may_happen(served: Served) -> None:
    client, ids = served
    waits = {address: "refresh" in body(client, address) for address in ("/", "/?before=3")}
    assert waits == {"/": True, "/?before=3": False}
    shown = {kind: "refresh" in body(client, f"/submissions/{ids[kind]}") for kind in ("waiting", "rerun", "declined")}
    assert shown == {"waiting": True, "rerun": True, "declined": False}


@pytest.mark.parametrize("identity", ["0", "999", "-1", "x", "9" * 6000, "999.json"])
def test_what_is_not_there_is_not_found(served: Served, identity: str) -> None:
    answer = served[0].get(f"/submissions/{identity}")
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


def test_only_reading_is_answered(served: Served) -> None:
    client, ids = served
    assert client.post(f"/submissions/{ids['declined']}").status_code == 405
    assert client.get("/?before=abc").status_code == 200
    older = client.get(f"/queue.json?before={ids['person']}").json()["closed"]
    assert {submission["id"] for submission in older} == {ids["promoted"], ids["declined"]}
