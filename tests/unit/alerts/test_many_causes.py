"""Much news of one run: ten messages, and one that speaks of the rest, to whoever takes something of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from assay.alerts.causes import red_jobs
from assay.alerts.delivery import with_digest, with_message
from assay.alerts.ledger import update
from assay.alerts.message import digest
from assay.commands.alerting import MOST, alert_lines
from assay.commands.alerts import mute_alert
from assay.core.alert import Alert, AlertKind, AlertRules, AlertTarget, Message, SecretText
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run

NOW = "2026-11-26T01:00:00+00:00"
NOWHERE = SecretText(text="json://127.0.0.1")
RULES = AlertRules((AlertTarget("pager", NOWHERE, (AlertKind.BLOCK,)), AlertTarget("team", NOWHERE, tuple(AlertKind))))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = SqlStore(str(tmp_path / "history.db"))
    yield opened
    opened.close()


def _checked(words: dict[str, VerdictStatus]) -> Checked:
    """Models that are asked by themselves: each that is red is a cause."""
    run = make_run("20261126T080000-aaaaaa", tuple(make_job(name, kind="change") for name in words))
    results = tuple(make_result(name, kind="change") for name in words)
    verdicts = tuple(Verdict(word, "it is so", job.key) for word, job in zip(words.values(), run.jobs, strict=True))
    return Checked(run, results, RunVerdict(verdicts, Verdict(VerdictStatus.FAIL, "FAIL"), 1))


def _record(store: SqlStore, checked: Checked) -> None:
    """As the run before that saw it."""
    red, passed = red_jobs(checked.judgement.verdicts, checked.results, checked.run.jobs, checked.run.command)
    alerts, _ = update([], red, passed, "20261125T080000-aaaaaa", NOW)
    store.change_alerts(lambda _: alerts)


def _subjects(store: SqlStore, checked: Checked) -> list[tuple[str, str]]:
    """(who, what) of each message that would be sent."""
    services = cast(Services, SimpleNamespace(store=store, history="h"))
    lines = alert_lines(checked, services, RULES, show=True)
    to = [line.removeprefix("would be sent to ").rstrip(":") for line in lines if line.startswith("would be sent")]
    return list(zip(to, [line.strip() for line in lines if "Subject:" in line], strict=True))


def test_what_blocks_is_never_behind_news_that_its_target_does_not_take(store: SqlStore) -> None:
    doubtful = {f"m{number:02}": VerdictStatus.INCONCLUSIVE for number in range(MOST + 2)}
    _record(store, _checked(doubtful))
    seen = _subjects(store, _checked({**doubtful, "wrong": VerdictStatus.FAIL, "late": VerdictStatus.FAIL}))
    assert len(seen) == MOST + 1
    assert [who for who, _ in seen] == ["pager, team"] * 2 + ["team"] * (MOST - 1)
    assert all("blocked: " in subject for _, subject in seen[:2])
    assert seen[-1] == ("team", "Subject: [assay] 4 further alerts of the same run")


def test_the_rest_goes_to_whoever_takes_something_of_it_and_says_what_each_is(store: SqlStore) -> None:
    doubtful = {f"m{number:02}": VerdictStatus.INCONCLUSIVE for number in range(3)}
    _record(store, _checked(doubtful))
    wrong = {f"w{number:02}": VerdictStatus.FAIL for number in range(MOST + 2)}
    checked = _checked({**doubtful, **wrong})
    seen = _subjects(store, checked)
    assert seen[-1] == ("pager, team", "Subject: [assay] 5 further alerts of the same run")
    services = cast(Services, SimpleNamespace(store=store, history="h"))
    text = "\n".join(alert_lines(checked, services, RULES, show=True))
    rest = text[text.index("5 further alerts") :]
    assert rest.count(" blocked: ") == 2
    assert rest.count(" inconclusive twice: ") == 3


def _digest_of(alerts: list[Alert], kind: AlertKind, rules: AlertRules) -> list[Alert]:
    return with_digest([(kind, alert) for alert in alerts], digest, rules, NOW)


def _alert(number: int) -> Alert:
    jobs = {f"m{number}|f|verify": 1}
    return Alert(f"id{number}", AlertKind.BLOCK, "s", f"headline {number}", jobs, "r", NOW, "r", NOW)


def _well(alert: Alert) -> Alert:
    return with_message(alert, AlertKind.RECOVERY, Message(AlertKind.RECOVERY, "well", "", ""), RULES, NOW)


def test_a_message_for_many_waits_on_when_the_alert_that_holds_it_is_well_again() -> None:
    """Its target hears of all of them, and of that one that it is well, too: it learns of it by the same message."""
    first, *_ = _digest_of([_alert(number) for number in range(3)], AlertKind.BLOCK, RULES)
    after = _well(first)
    assert [(waiting.target, waiting.message.kind) for waiting in after.waiting] == [
        ("pager", AlertKind.BLOCK),
        ("team", AlertKind.BLOCK),
        ("team", AlertKind.RECOVERY),
    ]
    (again, *_) = _digest_of([after, _alert(4)], AlertKind.RECOVERY, RULES)
    assert [waiting.many for waiting in again.waiting] == [True, True, True]


def test_a_mute_of_the_alert_that_holds_a_message_for_many_leaves_it_to_the_others(
    tmp_path: Path, store: SqlStore
) -> None:
    alerts = _digest_of([_alert(number) for number in range(3)], AlertKind.BLOCK, RULES)
    store.change_alerts(lambda _: alerts)
    until = datetime.now(UTC) + timedelta(days=1)
    assert len(mute_alert("id0", until, "known", str(tmp_path)).waiting) == 2


def test_what_is_well_again_before_a_target_knew_is_not_in_its_message_for_many() -> None:
    unheard = with_message(_alert(0), AlertKind.BLOCK, Message(AlertKind.BLOCK, "blocked", "", ""), RULES, NOW)
    assert _digest_of([unheard, unheard], AlertKind.RECOVERY, RULES)[0].waiting == ()
    (waiting,) = _digest_of([unheard, _alert(1)], AlertKind.RECOVERY, RULES)[0].waiting
    assert "headline 1" in waiting.message.text
    assert "headline 0" not in waiting.message.text


def test_who_is_to_hear_of_a_recovery_hears_of_the_next_one() -> None:
    twice = with_message(_well(_alert(0)), AlertKind.BLOCK, Message(AlertKind.BLOCK, "blocked", "", ""), RULES, NOW)
    assert [waiting.message.kind for waiting in _well(twice).waiting] == [AlertKind.RECOVERY]
