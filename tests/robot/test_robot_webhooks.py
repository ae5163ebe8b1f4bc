"""Webhooks of both forges under attack, against the real server: nothing is taken that a forge did not send once."""

from __future__ import annotations

import hashlib
import hmac
import json
import select
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from live_server import serving
from starlette.applications import Starlette

from assay_zoo.robot.config import RobotConfig, load_robot
from assay_zoo.robot.database import Database
from assay_zoo.robot.deliveries import Deliveries
from assay_zoo.robot.webhooks import Webhooks

OLD, NEW = "old-secret-0123456789", "new-secret-0123456789"
MOST = 20_000
GITHUB = 'github]\nrepository = "zoo/models"\ntoken = { file = "old" }\n[limits'
BODY = {"action": "synchronize", "number": 7, "pull_request": {"number": 7, "head": {"sha": "a" * 40}}}
GITLAB = {"object_kind": "merge_request", "object_attributes": {"iid": 9, "action": "update"}}


def config(folder: Path, source: str, body_s: float = 300.0) -> RobotConfig:
    (folder / "old").write_text(OLD + "\n")
    (folder / "new").write_text(NEW)
    (folder / "robot.toml").write_text(f"""
[zoo]
repository = "zoo.git"
[webhook]
secrets = [{{ file = "old" }}, {{ file = "new" }}]
body_bytes = {MOST}
body_s = {body_s}
[{source}]
""")
    return load_robot(folder / "robot.toml")


class Hooked:
    """A server, what it took, and how often it was woken."""

    def __init__(self, address: str, deliveries: Deliveries, woken: list[int]) -> None:
        self.address, self.deliveries, self.woken = address, deliveries, woken
        self.client = httpx.Client(base_url=address, timeout=300)

    def numbers(self) -> list[int]:
        return [delivery.number for delivery in self.deliveries.waiting() for _ in delivery.ids]


def hooked(folder: Path, source: str, body_s: float = 300.0) -> Iterator[Hooked]:
    database = Database(str(folder / "robot.db"))
    deliveries, woken = Deliveries(database), []
    hooks = Webhooks(config(folder, source, body_s), deliveries, wake=lambda: woken.append(1))
    with serving(Starlette(routes=hooks.routes())) as address:
        hook = Hooked(address, deliveries, woken)
        yield hook
        hook.client.close()
    database.close()


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Hooked]:
    yield from hooked(tmp_path, GITHUB)


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[Hooked]:
    """GitHub's, that does not wait long for a body."""
    yield from hooked(tmp_path, GITHUB, body_s=1.0)


@pytest.fixture
def gitlab(tmp_path: Path) -> Iterator[Hooked]:
    yield from hooked(tmp_path, 'gitlab]\nproject = "zoo/models"\ntoken = { file = "old" }\n[limits')


def signed(body: bytes, secret: str = OLD, delivery: str = "guid-1", event: str = "pull_request") -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": delivery,
        "x-hub-signature-256": f"sha256={digest}",
    }


def post(hook: Hooked, body: bytes, headers: Mapping[str, str], name: str = "github") -> int:
    return hook.client.post(f"/hooks/{name}", content=body, headers=dict(headers)).status_code


def encoded(**changes: object) -> bytes:
    return json.dumps({**BODY, **changes}).encode()


def test_a_delivery_is_taken_and_wakes_the_robot(github: Hooked) -> None:
    assert post(github, encoded(), signed(encoded())) == 202
    assert github.numbers() == [7]
    assert github.woken == [1]


def test_both_secrets_are_taken_while_one_replaces_the_other(github: Hooked) -> None:
    first, second = encoded(before="1"), encoded(before="2")
    assert post(github, first, signed(first, OLD, "g1")) == 202
    assert post(github, second, signed(second, NEW, "g2")) == 202


def test_what_is_not_signed_is_refused(github: Hooked) -> None:
    body = encoded()
    good = signed(body)
    sha1 = "sha1=" + hmac.new(OLD.encode(), body, hashlib.sha1).hexdigest()
    for forged in (
        signed(body, "another-secret-0123456789"),
        {**good, "x-hub-signature-256": ""},
        {**good, "x-hub-signature-256": good["x-hub-signature-256"][:-1]},
        {**good, "x-hub-signature-256": good["x-hub-signature-256"].upper()},
        {**good, "x-hub-signature-256": "sha256=" + "é".encode().decode("latin-1") * 64},
        {name: value for name, value in good.items() if name != "x-hub-signature-256"} | {"x-hub-signature": sha1},
        {**good, "x-gitlab-token": OLD, "x-hub-signature-256": "sha256="},
    ):
        assert post(github, body, {k: v.encode("latin-1") for k, v in forged.items()}) == 401  # type: ignore[misc]
    assert post(github, body + b" ", good) == 401, "the signature is of the raw body"
    assert post(github, encoded(number=8), good) == 401
    assert github.numbers() == []
    assert github.woken == []


def test_a_replay_is_refused_under_any_id(github: Hooked) -> None:
    body = encoded()
    assert post(github, body, signed(body)) == 202
    assert post(github, body, signed(body)) == 409
    assert post(github, body, signed(body, delivery="another-id")) == 409, "the signature does not cover the id"
    assert post(github, encoded(x=1), signed(encoded(x=1))) == 409, "a known id with another body"
    assert github.numbers() == [7]


def test_a_delivery_without_a_usable_id_is_refused(github: Hooked) -> None:
    body = encoded()
    for delivery in ("", "x" * 300):
        assert post(github, body, signed(body, delivery=delivery)) == 400


def test_only_json_is_taken(github: Hooked) -> None:
    body = encoded()
    for kind in ("application/x-www-form-urlencoded", "text/plain", "", "application/jsonx"):
        assert post(github, body, {**signed(body), "content-type": kind}) == 415
    assert post(github, body, {**signed(body), "content-type": "application/json; charset=utf-8"}) == 202
    for broken in (b"{", b"[1]", b'"x"', b"[" * 9000, b"\xff\xfe"):
        assert post(github, broken, signed(broken, delivery="g9")) == 400


def test_a_rerun_that_was_asked_for_at_github_is_a_hint(github: Hooked) -> None:
    sha = "a" * 40
    for number, (event, message) in enumerate(
        (
            ("check_run", {"action": "rerequested", "check_run": {"head_sha": sha, "external_id": "12.3"}}),
            ("check_suite", {"action": "rerequested", "check_suite": {"head_sha": sha}}),
            ("check_run", {"action": "completed", "check_run": {"head_sha": sha, "external_id": "13.1"}}),
            ("check_run", {"action": "rerequested", "check_run": {"head_sha": "../x", "external_id": "14.1"}}),
            ("check_run", {"action": "rerequested", "check_run": None}),
        )
    ):
        body = json.dumps(message).encode()
        assert post(github, body, signed(body, event=event, delivery=f"again-{number}")) == 202
    assert [(delivery.sha, delivery.number) for delivery in github.deliveries.waiting()] == [(sha, 12), (sha, 0)]


def test_events_that_change_nothing_are_thanked_and_forgotten(github: Hooked) -> None:
    body = encoded()
    for event in ("ping", "star", "", "pull_request_review_comment"):
        assert post(github, body, signed(body, event=event, delivery=f"g-{event}")) == 202
    for number in (True, "7", -1, 0, 2**40, None, {"a": 1}):
        odd = json.dumps({"pull_request": {"number": number}}).encode()
        assert post(github, odd, signed(odd, delivery=f"n-{number}")) == 202
    assert github.numbers() == []


def test_an_oversized_body_is_refused_by_its_header_and_by_its_bytes(github: Hooked) -> None:
    big = b"x" * (MOST + 1)
    assert post(github, big, signed(big)) == 413

    def parts() -> Iterator[bytes]:
        for _ in range(100_000):
            yield b"x" * 1000

    sent = 0

    def counted() -> Iterator[bytes]:
        nonlocal sent
        for part in parts():
            sent += len(part)
            yield part

    try:  # chunked: no length is told; the server may hang up while it is still sent
        answer = httpx.post(f"{github.address}/hooks/github", content=counted(), headers=signed(b""))
        assert answer.status_code == 413
    except httpx.TransportError:
        pass
    assert sent < 50_000_000, "it was read to its end"
    assert github.numbers() == []


def raw(hook: Hooked, head: str, body: bytes, *, wait_s: float = 300.0) -> bytes:
    parts = urlsplit(hook.address)
    with socket.create_connection((parts.hostname, parts.port), timeout=wait_s) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + body)
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
        return data


def request_head(length: str, body: bytes) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in signed(body).items())
    return f"POST /hooks/github HTTP/1.1\nHost: x\nConnection: close\n{lines}{length}\n\n"


def test_a_lying_length_gets_nothing_in(hasty: Hooked) -> None:
    body = encoded()
    longer = raw(hasty, request_head(f"Content-Length: {len(body) + 100}", body), body)
    assert b" 408 " in longer.splitlines()[0], "it waits for the rest no longer than it was told to"
    shorter = raw(hasty, request_head(f"Content-Length: {len(body) - 10}", body), body)
    assert b" 401 " in shorter.splitlines()[0]
    two = raw(hasty, request_head("Content-Length: 5\nTransfer-Encoding: chunked", body), b"0\r\n\r\n" + body)
    assert two.splitlines()[0].split()[1] in (b"400", b"401")
    assert hasty.numbers() == []


def test_slow_bodies_hold_nobody_up(github: Hooked) -> None:
    body = encoded()
    parts = urlsplit(github.address)
    slow = [socket.create_connection((parts.hostname, parts.port), timeout=300) for _ in range(20)]
    for number, connection in enumerate(slow):
        connection.sendall(
            request_head(f"Content-Length: {len(body)}", body).replace("\n", "\r\n").encode() + body[: number % 5]
        )
    assert post(github, body, signed(body)) == 202
    answered, _, _ = select.select(slow, [], [], 0)
    assert not answered, "it waited for the slow ones"
    for connection in slow:
        connection.close()


def test_slow_bodies_are_given_up(hasty: Hooked) -> None:
    body = encoded()
    for sent in range(3):
        head = request_head(f"Content-Length: {len(body)}", body)
        assert b" 408 " in raw(hasty, head, body[:sent]).splitlines()[0]
    assert hasty.numbers() == []


def test_many_deliveries_are_taken(github: Hooked) -> None:
    for number in range(1, 61):
        body = encoded(pull_request={"number": number})
        assert post(github, body, signed(body, delivery=f"g{number}")) == 202
    assert len(github.numbers()) == 60


def test_gitlab(gitlab: Hooked) -> None:
    body = json.dumps(GITLAB).encode()
    good = {
        "content-type": "application/json",
        "x-gitlab-event": "Merge Request Hook",
        "x-gitlab-token": NEW,
        "idempotency-key": "k1",
    }
    assert post(gitlab, body, {**good, "x-gitlab-token": NEW + "x"}, "gitlab") == 401
    assert post(gitlab, body, {**good, "x-gitlab-token": ""}, "gitlab") == 401
    assert post(gitlab, body, {k: v for k, v in good.items() if k != "x-gitlab-token"}, "gitlab") == 401
    assert post(gitlab, body, good, "gitlab") == 202
    assert post(gitlab, body, good, "gitlab") == 409
    assert post(gitlab, body, signed(body), "github") == 404, "the forge that is not in use has no address"
    old = json.dumps({**GITLAB, "object_attributes": {"iid": 10}}).encode()
    unnamed = {name: value for name, value in good.items() if name != "idempotency-key"}
    assert post(gitlab, old, unnamed, "gitlab") == 202, "before 17.4 the body names the delivery"
    assert post(gitlab, old, unnamed, "gitlab") == 409
    assert gitlab.numbers() == [9, 10]


def test_without_a_webhook_table_there_is_no_address(tmp_path: Path) -> None:
    plain = replace(
        config(tmp_path, 'github]\nrepository = "zoo/models"\ntoken = { file = "old" }\n[limits'), webhook=None
    )
    database = Database(str(tmp_path / "robot.db"))
    assert Webhooks(plain, Deliveries(database), wake=lambda: None).routes() == []
    database.close()
