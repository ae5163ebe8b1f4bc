"""Alerts of the robot: what [alerts] of robot.toml names is sent once per cause, by the same ledger as that of `assay run`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from assay.alerts.delivery import Send, deliver, with_message
from assay.alerts.ledger import News, as_told, kept, update
from assay.alerts.message import message
from assay.alerts.send import send as send_by_apprise
from assay.commands.composition import open_store
from assay.core.alert import Alert, AlertFacts, AlertKind, AlertRules, RedJob
from assay.core.digest import value_digest
from assay.errors import HarnessError, StoreError
from assay.pipeline.past_runs.alert_facts import mute_line
from assay.ports import KeepsAlerts
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot import report
from assay_zoo.robot.queue_records import Whole

AGAIN_S = 300.0
"""Between two looks for what waits: the end of quiet hours, a target that did not answer."""
ROBOT = "inspection|the robot|robot"
"""The job of what no submission is to blame for: it is told once, however many submissions it stops."""
_BLAMED = (CheckOutcome.FAILED, CheckOutcome.UNDECIDED)


class NotificationFailed(HarnessError):
    """A target was not reached; no secret is in the text."""


class Alerts:
    """`tell` may be repeated: people get what they have not got yet."""

    def __init__(self, rules: AlertRules, history: str, send: Send = send_by_apprise) -> None:
        self._rules, self._history, self._send = rules, history, send
        self._next = 0.0
        self._one = threading.Lock()

    def tell(self, whole: Whole, page: str) -> None:
        """What a decision, or a promotion that failed, is news of. Raises NotificationFailed where a target was not reached."""
        now = datetime.now(UTC)
        red, answers = red_job(whole), _answered(whole)
        self._changed(lambda alerts: after_decision(alerts, red, answers, whole, page, self._rules, self._history, now))

    def send_waiting(self) -> None:
        """What is due by now, once in `AGAIN_S`. Raises NotificationFailed."""
        if time.monotonic() >= self._next:
            self._changed(lambda alerts: alerts)

    def _changed(self, change: Callable[[list[Alert]], Sequence[Alert]]) -> None:
        with self._one, open_store(self._history) as store:
            if not isinstance(store, KeepsAlerts):
                raise StoreError(
                    "the robot's history is of a kind that cannot keep alerts: remove [alerts] from robot.toml"
                )
            store.change_alerts(change)
            done = deliver(store, self._rules, self._send, datetime.now(UTC))
            self._next = time.monotonic() + AGAIN_S
        if done.failed:
            raise NotificationFailed("; ".join(done.failed))


def red_job(whole: Whole) -> RedJob | None:
    """Of a submission that is not in the zoo though it was decided. The same reasons in a newer commit are the same cause."""
    submission, decided = whole.submission, whole.decision
    if decided is None:
        return None
    if decided.answer == Answer.RETRY:
        broken = _names(decided.checks, (CheckOutcome.INFRASTRUCTURE,))
        return _red(ROBOT, ("retry", *broken), f"could not be checked ({', '.join(broken)})", report.line(whole, 400))
    if decided.answer != Answer.PROMOTE:
        blamed = _names(decided.checks, _BLAMED)
        short = f"{report.line(whole, 400).partition(':')[0]}{f' ({blamed[0]})' if blamed else ''}"
        return _red(_key(whole), (decided.answer, *blamed), short, report.line(whole, 400))
    if submission.trouble:
        return _red(_key(whole), ("trouble",), "accepted, but not promoted", report.line(whole, 400))
    return None


def after_decision(
    alerts: Sequence[Alert],
    red: RedJob | None,
    answers: Callable[[str], bool],
    whole: Whole,
    page: str,
    rules: AlertRules,
    history: str,
    now: datetime,
) -> Sequence[Alert]:
    """All alerts with what is news of them, and a message for each target that is to have it. `answers` says of the key of a job
    whether this decision makes it well."""
    at = now.isoformat(timespec="seconds")
    passed = {key for alert in alerts for key in alert.jobs if answers(key)}
    known, news = update(alerts, [red] if red else [], passed, f"submission {whole.submission.id}", at)
    by_id = {alert.id: alert for alert in known}
    for change in news:
        if change.alert.is_muted(at):
            continue
        text = message(change.alert, change.kind, _facts(change, whole, page, history), "zoo")
        by_id[change.alert.id] = as_told(with_message(by_id[change.alert.id], change.kind, text, rules, at), change)
    return kept(list(by_id.values()), at)


def _answered(whole: Whole) -> Callable[[str], bool]:
    """A decision of any kind shows that inspections work again; one that promotes, that the submission is well wherever it came from."""
    decided = whole.decision
    if decided is None or decided.answer == Answer.RETRY:
        return lambda _: False
    well = decided.answer == Answer.PROMOTE and not whole.submission.trouble
    return lambda key: key == ROBOT or (well and key.partition("|")[0] == whole.submission.name)


def _facts(news: News, whole: Whole, page: str, history: str) -> AlertFacts:
    if news.kind is AlertKind.RECOVERY and news.alert.is_muted(news.alert.closed_at):
        return AlertFacts(lines=(("Now", "it was well again while it was muted"),))  # by another decision than this
    submission = whole.submission
    lines = [("What", report.line(whole, 400)), ("Commit", f"{submission.sha[:12]} of {submission.branch}")]
    if submission.author:
        lines.append(("Author", submission.author))
    if news.before:
        lines.append(("Before", news.before))
    names = tuple(dict.fromkeys(" on ".join(key.split("|")[:2]) for key in news.alert.jobs))
    mute = ("Not now", mute_line(news.alert, history))
    return AlertFacts(names, tuple(lines), () if news.kind is AlertKind.RECOVERY else (mute,), page)


def _red(key: str, symptom: tuple[str, ...], short: str, reason: str) -> RedJob:
    return RedJob(key, AlertKind.BLOCK, value_digest(("robot", *symptom))[:16], short, reason)


def _key(whole: Whole) -> str:
    submission = whole.submission
    return f"{submission.name}|{submission.branch.replace('|', '/')}|submission"


def _names(checks: Sequence[Check], outcomes: Sequence[CheckOutcome]) -> list[str]:
    return sorted({check.name for check in checks if check.outcome in outcomes})
