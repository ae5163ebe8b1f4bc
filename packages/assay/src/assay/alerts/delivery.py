"""Messages that wait: put into the alerts, taken out when a target has them, kept where it has not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from assay.alerts.ledger import kept
from assay.alerts.quiet import quiet_until
from assay.alerts.target_addresses import NotDelivered
from assay.core.alert import Alert, AlertKind, AlertRules, AlertTarget, Message, Waiting
from assay.ports import KeepsAlerts

CLAIM_S = 300.0
OLDEST = timedelta(days=7)
"""After that a message is of no use to anybody."""
Send = Callable[[AlertTarget, Message], None]


class Delivered(msgspec.Struct, frozen=True):
    """What became of messages: (target, subject) of those that arrived and of those that wait for the end of quiet hours, and a
    sentence for each target that failed."""

    sent: tuple[tuple[str, str], ...] = ()
    quiet: tuple[tuple[str, str], ...] = ()
    failed: tuple[str, ...] = ()


def with_message(alert: Alert, kind: AlertKind, message: Message, rules: AlertRules, now: str) -> Alert:
    """The alert with the message for each target that is to have it. What was blocked and is well again before a target knew is
    told to it neither way."""
    receivers = [target.name for target in rules.targets if kind in target.on]
    if kind is AlertKind.RECOVERY:
        never_knew = _never_knew(alert)
        receivers = [
            target.name
            for target in rules.targets
            if target.name not in never_knew and {kind, alert.kind} <= {*target.on}
        ]
        alert = _well_again(alert)
    return replace(alert, waiting=(*alert.waiting, *(Waiting(name, message, now) for name in receivers)))


def with_digest(
    news: Sequence[tuple[AlertKind, Alert]],
    message_of: Callable[[Sequence[tuple[AlertKind, Alert]]], Message],
    rules: AlertRules,
    now: str,
) -> list[Alert]:
    """The alerts of much news, of which one message speaks. It waits with the first of them, for every target that takes one of the kinds;
    what is well again is not told as blocked any more, and is told to no target that never knew of it."""
    messages: dict[tuple[str, ...], Message] = {}
    waiting: list[Waiting] = []
    for target in rules.targets:
        its_news = [
            (kind, alert)
            for kind, alert in news
            if kind is not AlertKind.RECOVERY or target.name not in _never_knew(alert)
        ]
        if {kind for kind, _ in its_news} & {*target.on}:
            key = tuple(alert.id for _, alert in its_news)
            messages[key] = messages.get(key) or message_of(its_news)
            waiting.append(Waiting(target.name, messages[key], now, many=True))
    first, *others = [_well_again(alert) if kind is AlertKind.RECOVERY else alert for kind, alert in news]
    return [replace(first, waiting=(*first.waiting, *waiting)), *others]


def _never_knew(alert: Alert) -> set[str]:
    """The targets for which the first message of it alone still waits. Who is to hear that it was well again knew of it."""
    kinds = {(delivery.target, delivery.message.kind) for delivery in alert.waiting if not delivery.many}
    return {name for name, kind in kinds if kind is not AlertKind.CHANGE and (name, AlertKind.RECOVERY) not in kinds}


def _well_again(alert: Alert) -> Alert:
    """Without what is not so any more. A message that speaks of other alerts as well stays."""
    return replace(alert, waiting=tuple(delivery for delivery in alert.waiting if delivery.many))


def deliver(store: KeepsAlerts, rules: AlertRules, send: Send, now: datetime) -> Delivered:
    """Everything that waits and is due. Two that deliver at once do not send a message twice; one that died is taken over."""
    due = _claim(store, rules, now)
    failed: dict[str, str] = {}
    sent: list[tuple[str, str]] = []
    got: dict[tuple[str, Waiting], str] = {}
    targets = {target.name: target for target in rules.targets}
    for identity, waiting in due:
        if waiting.target in failed:  # one that did not answer is not asked again in this run
            got[identity, waiting] = failed[waiting.target]
            continue
        try:
            send(targets[waiting.target], waiting.message)
        except NotDelivered as error:
            got[identity, waiting] = failed[waiting.target] = str(error)
        else:
            got[identity, waiting] = ""
            sent.append((waiting.target, waiting.message.subject))
    _settle(store, got, now)
    quiet = [
        (waiting.target, waiting.message.subject)
        for alert in store.alerts()
        for waiting in alert.waiting
        if waiting.target in targets and not waiting.error and not _is_due(waiting, rules, now)
    ]
    sentences = [f"alert target '{name}' was not reached: {why}" for name, why in failed.items()]
    return Delivered(tuple(sent), tuple(quiet), tuple(sentences))


def _is_due(waiting: Waiting, rules: AlertRules, now: datetime) -> bool:
    target = next(alert_target for alert_target in rules.targets if alert_target.name == waiting.target)
    return target.always or not quiet_until(rules, now)


def _claim(store: KeepsAlerts, rules: AlertRules, now: datetime) -> list[tuple[str, Waiting]]:
    known = {target.name for target in rules.targets}
    oldest = (now - OLDEST).astimezone(UTC).isoformat(timespec="seconds")
    clock = time.time()
    claimed: list[tuple[str, Waiting]] = []

    def claim(alerts: list[Alert]) -> Sequence[Alert]:
        claimed.clear()
        after = []
        for alert in alerts:
            waiting = []
            for delivery in alert.waiting:
                if delivery.target not in known or delivery.since < oldest:
                    continue
                if delivery.claimed_until <= clock and _is_due(delivery, rules, now):
                    delivery = replace(delivery, claimed_until=clock + CLAIM_S)
                    claimed.append((alert.id, delivery))
                waiting.append(delivery)
            after.append(replace(alert, waiting=tuple(waiting)))
        return after

    store.change_alerts(claim)
    return claimed


def _settle(store: KeepsAlerts, got: dict[tuple[str, Waiting], str], now: datetime) -> None:
    def settle(alerts: list[Alert]) -> Sequence[Alert]:
        after = []
        for alert in alerts:
            waiting, delivered = [], alert.told
            for delivery in alert.waiting:
                why = got.get((alert.id, delivery))
                if why is None:
                    waiting.append(delivery)
                elif why:
                    waiting.append(replace(delivery, error=why, claimed_until=0.0))
                elif alert.kind is AlertKind.FOUND:
                    delivered = tuple(alert.jobs)
            after.append(replace(alert, waiting=tuple(waiting), told=delivered))
        return kept(after, now.astimezone(UTC).isoformat(timespec="seconds"))

    store.change_alerts(settle)
