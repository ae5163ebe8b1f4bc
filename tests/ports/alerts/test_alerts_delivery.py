"""Messages that wait, over a real SMTP server, a real HTTP endpoint and a real history."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from alert_servers import Endpoint, endpoint, mail_server
from assay.alerts.delivery import Delivered, deliver, with_message
from assay.alerts.message import message
from assay.alerts.send import send
from assay.alerts.target_addresses import NotDelivered, without_address
from assay.core.alert import Alert, AlertFacts, AlertKind, AlertRules, AlertTarget, Message, SecretText
from assay.stores.sql import SqlStore
from free_port import free_port

NIGHT = datetime(2026, 11, 26, 2, 0, tzinfo=UTC)
MORNING = datetime(2026, 11, 26, 8, 0, tzinfo=UTC)
ALERT = Alert("a1b2c3d4", AlertKind.BLOCK, "s", "net on ov: mismatch", {"net|ov|verify": 1}, "r1", "t", "r1", "t")
HOSTILE = AlertFacts(
    ("net on ov (verify)",),
    (("What", "node '<script>alert(1)</script>' @everyone <!channel> \x1b[31m sqlite://u:hunter2@h/d"),),
    (("Repeat it", "assay check 'net;rm -rf'"),),
    'https://ci.example/"><script>',
)


@pytest.fixture
def chat() -> Iterator[Endpoint]:
    with endpoint() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    sql_store = SqlStore(str(tmp_path / "history.db"))
    yield sql_store
    sql_store.close()


def target(name: str, url: str, **more: object) -> AlertTarget:
    return AlertTarget(name, SecretText(text=url), tuple(AlertKind), **more)  # type: ignore[arg-type]


def waits(store: SqlStore, rules: AlertRules, kind: AlertKind = AlertKind.BLOCK) -> None:
    """The store then has one alert, with a message for each target."""
    known = store.alerts() or [ALERT]
    made = message(known[0], kind, HOSTILE)
    store.change_alerts(lambda _: [with_message(known[0], kind, made, rules, "2026-11-26T01:00:00+00:00")])


def test_words_of_models_are_neither_markup_nor_mentions_and_passwords_are_hidden(chat: Endpoint) -> None:
    made = message(ALERT, AlertKind.BLOCK, HOSTILE)
    with mail_server() as mail:
        send(target("team", mail.url), made)
        send(target("chat", chat.url), made)
    (letter,), (post,) = mail.mails, chat.posts
    assert post["type"] == "failure"
    html, plain = (str(letter.get_body((kind,)).get_content()) for kind in ("html", "plain"))  # type: ignore[union-attr]
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    for text in (html, plain, post["message"]):
        assert "hunter2" not in text
        assert "@everyone" not in text
        assert "<!channel" not in text
        assert "\x1b" not in text
        assert "net;rm -rf" in text


def test_a_target_that_is_not_reached_is_told_without_its_secrets_and_tried_again(
    store: SqlStore, chat: Endpoint
) -> None:
    gone = f"json://ann:hunter2%21@127.0.0.1:{free_port()}/hook/T0K3N-abc?key=v4lu3"
    rules = AlertRules((target("gone", gone), target("chat", chat.url)))
    waits(store, rules)
    chat.status = 500
    done = deliver(store, rules, send, MORNING)
    assert done.sent == ()
    first, second = done.failed
    assert first.startswith("alert target 'gone' was not reached: ")
    assert "500" in second
    for secret in ("hunter2", "T0K3N", "v4lu3", "s3cr3t", "ann"):
        assert secret not in " ".join(done.failed)
        assert secret not in " ".join(delivery.error for delivery in store.alerts()[0].waiting)

    chat.status = 200
    done = deliver(store, rules, send, MORNING)
    assert [name for name, _ in done.sent] == ["chat"]
    assert [delivery.target for delivery in store.alerts()[0].waiting] == ["gone"]
    assert deliver(store, AlertRules((target("chat", chat.url),)), send, MORNING) == Delivered()
    assert store.alerts()[0].waiting == (), "nobody waits for a target that is not configured any more"


def test_quiet_hours_hold_messages_back_but_not_for_an_incident_tool(store: SqlStore, chat: Endpoint) -> None:
    targets = (target("chat", chat.url), target("pager", chat.url, always=True))
    rules = AlertRules(targets, quiet_hours=(20 * 60, 7 * 60), time_zone="UTC")
    waits(store, rules)
    done = deliver(store, rules, send, NIGHT)
    assert [name for name, _ in done.sent] == ["pager"]
    assert [name for name, _ in done.quiet] == ["chat"]
    # Well again before the morning: who slept is told neither, the pager is.
    waits(store, rules, AlertKind.RECOVERY)
    done = deliver(store, rules, send, MORNING)
    assert [name for name, _ in done.sent] == ["pager"]
    assert [post["type"] for post in chat.posts] == ["failure", "success"]


def test_two_that_deliver_at_once_send_a_message_once(store: SqlStore, chat: Endpoint) -> None:
    rules = AlertRules((target("chat", chat.url),))
    waits(store, rules)

    def send_and_meet_another(alert_target: AlertTarget, text: Message) -> None:
        assert deliver(store, rules, send, MORNING) == Delivered()
        send(alert_target, text)

    assert len(deliver(store, rules, send_and_meet_another, MORNING).sent) == 1
    assert len(chat.posts) == 1
    waits(store, rules)
    (alert,) = store.alerts()
    dead = replace(alert, waiting=tuple(replace(delivery, claimed_until=time.time() - 1) for delivery in alert.waiting))
    store.change_alerts(lambda _: [dead])
    assert len(deliver(store, rules, send, MORNING).sent) == 1, "one that died while it sent is taken over"


def test_what_nobody_could_have_for_a_week_is_dropped(store: SqlStore, chat: Endpoint) -> None:
    rules = AlertRules((target("chat", chat.url),))
    waits(store, rules)
    assert deliver(store, rules, send, MORNING + timedelta(days=8)) == Delivered()
    assert store.alerts()[0].waiting == ()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (SecretText(env="NOT_SET_AT_ALL"), "the variable NOT_SET_AT_ALL, which has its address, is not set"),
        (SecretText(file="/nowhere/url"), "/nowhere/url, which has its address, cannot be read"),
        (SecretText(text="foo://s3cr3t-token"), r"no address that apprise understands \(foo://...\)"),
        (
            SecretText(text="slack://s3cr3t-token"),
            r"the address is incomplete \(slack://...\): https://appriseit.com/services",
        ),
        (SecretText(text="mailto://user:s3cr3t@127.0.0.1:1"), r"the address is incomplete \(mailto://...\)"),
        (SecretText(text="s3cr3t-token"), "it is no address: https://appriseit.com"),
    ],
)
def test_an_address_that_is_of_no_use(url: SecretText, told: str) -> None:
    with pytest.raises(NotDelivered, match=told) as error:
        send(AlertTarget("x", url, tuple(AlertKind)), message(ALERT, AlertKind.BLOCK, AlertFacts()))
    assert "s3cr3t" not in str(error.value)
    assert "s3cr3t" not in repr(url)


def test_a_server_that_never_answers_costs_the_time_limit_only() -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"json://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(NotDelivered, match=r"no answer within 0\.2 s"):
            send(target("slow", url), message(ALERT, AlertKind.BLOCK, AlertFacts()), 0.2)


def test_what_a_target_that_was_not_waited_for_says_later_is_not_told_of_the_next(chat: Endpoint) -> None:
    """Its address is not known there, and would not be hidden."""
    chat.status = 500
    beside = threading.Event()

    def speak() -> None:
        while not beside.wait(0.001):
            logging.getLogger("apprise").warning("cannot reach https://hook/0ther-s3cret")

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        with pytest.raises(NotDelivered, match="500") as error:
            send(target("chat", chat.url), message(ALERT, AlertKind.BLOCK, AlertFacts()))
    finally:
        beside.set()
        thread.join()
    assert "0ther" not in str(error.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_page_elsewhere_that_takes_anything_is_no_delivery(chat: Endpoint, status: int) -> None:
    with endpoint() as elsewhere:
        chat.status, chat.location = status, f"http://127.0.0.1:{elsewhere.port}/sign-in"
        with pytest.raises(NotDelivered, match=str(status)):
            send(target("moved", chat.url), message(ALERT, AlertKind.BLOCK, AlertFacts()))
        assert elsewhere.paths == [], "and it is shown nothing"


def test_every_part_of_an_address_is_hidden() -> None:
    address = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnl%2Fazkc/?footer=se%20cret"
    text = f"POST {address} T1JJ3T3L2 A1BRTD4JD TIiajkdnl/azkc 'se cret' se%20cret"
    hidden = without_address(text, address)
    assert hidden == "POST *** *** *** *** '***' ***"
