"""`assay alert` as functions."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from assay.commands.alerting import alert_lines, delivery_lines, rules_here
from assay.commands.composition import open_services
from assay.core.alert import Alert, AlertKind, AlertRules, Message, Mute, find_alert
from assay.errors import UsageError
from assay.options.groups import DEFAULT_CONFIG
from assay.pipeline.rejudge import rejudge
from assay.ports import KeepsAlerts

NO_TARGET = "names no target: add [[alerts.target]] with a name and a url (docs/alerts.md)"
LONGEST_MUTE = timedelta(days=366)


def list_alerts(history: str) -> list[Alert]:
    """All that are open, muted, or have a message that waits."""
    with _kept_in(history) as store:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return [alert for alert in store.alerts() if not alert.is_over(now)]


def mute_alert(identity: str, until: datetime, reason: str, history: str, *, who: str = "") -> Alert:
    """Nothing of it is told until then; what is still open is told again then. `who` wants so ("": who runs this). Raises UsageError."""
    now = datetime.now(UTC)
    if not reason.strip():
        raise UsageError("a mute needs a reason: give --reason")
    if not now < until <= now + LONGEST_MUTE:
        raise UsageError(f"a mute must end in the future, within a year, not at {until:%Y-%m-%d %H:%M}")
    mute = Mute(until.astimezone(UTC).isoformat(timespec="seconds"), reason, who or getpass.getuser())

    def muted(alert: Alert) -> Alert:
        # Who has the message is still to hear that it is well again, once the mute is over.
        recovers = any(waiting.message.kind is AlertKind.RECOVERY for waiting in alert.waiting) and bool(
            alert.closed_at
        )
        of_others = tuple(waiting for waiting in alert.waiting if waiting.many)
        unknown = (len(alert.waiting) > len(of_others) and not recovers) or alert.kind is AlertKind.FOUND
        untold = recovers or alert.recovery_untold
        return replace(alert, mute=mute, waiting=of_others, told=() if unknown else alert.told, recovery_untold=untold)

    return _changed(identity, history, muted)


def unmute_alert(identity: str, history: str) -> Alert:
    """Ends the mute of an alert now. Raises UsageError where it is not muted."""
    now = datetime.now(UTC).isoformat(timespec="seconds")

    def unmuted(alert: Alert) -> Alert:
        if alert.mute is None or not alert.is_muted(now):
            raise UsageError(f"alert {alert.id} is not muted")
        return replace(alert, mute=replace(alert.mute, until=now))

    return _changed(identity, history, unmuted)


def show_alerts(run: str, history: str, config: Path | None) -> list[str]:
    """What a recorded run would tell now. Nothing is sent, and nothing is recorded."""
    rules = rules_of(config)
    with open_services(history, recorded=True) as services:
        return alert_lines(rejudge(run, None, services), services, rules, show=True)


def send_waiting(history: str, config: Path | None) -> tuple[list[str], bool]:
    """What waits is sent: a line for each message, and whether all that is due arrived."""
    from assay.alerts.delivery import deliver
    from assay.alerts.send import send

    rules = rules_of(config)
    with _kept_in(history) as store:
        done = deliver(store, rules, send, datetime.now(UTC))
    return delivery_lines(done) or ["no alert waits"], not done.failed


def try_targets(config: Path | None, *, dry_run: bool = False) -> tuple[list[str], bool]:
    """A test message to each target: a line each, and whether all took it."""
    from assay.alerts.send import send
    from assay.alerts.target_addresses import NotDelivered, read_address

    text = "This is a test of `assay alert test`. Nothing is wrong.\n"
    message = Message(AlertKind.RECOVERY, "[assay] test", text, f"<html><body><p>{text}</p></body></html>")
    lines, right = [], True
    for target in rules_of(config).targets:
        try:
            if dry_run:
                scheme = read_address(target).partition("://")[0]
                lines.append(f"{target.name}: would be sent to a {scheme}:// address")
            else:
                send(target, message)
                lines.append(f"{target.name}: sent")
        except NotDelivered as error:
            right = False
            lines.append(f"{target.name}: not reached: {error}")
    return lines, right


def rules_of(config: Path | None) -> AlertRules:
    """Raises UsageError where nobody is to be told."""
    rules = rules_here(config)
    if rules is None:
        raise UsageError(f"{config or DEFAULT_CONFIG} {NO_TARGET}")
    return rules


def _changed(identity: str, history: str, change: Callable[[Alert], Alert]) -> Alert:
    changed: list[Alert] = []

    def put(alerts: list[Alert]) -> Sequence[Alert]:
        after = change(find_alert(alerts, identity))
        changed.append(after)
        return [after if alert.id == after.id else alert for alert in alerts]

    with _kept_in(history) as store:
        store.change_alerts(put)
    return changed[0]


@contextmanager
def _kept_in(history: str) -> Iterator[KeepsAlerts]:
    with open_services(history, recorded=True) as services:
        if not isinstance(services.store, KeepsAlerts):
            raise UsageError(f"{history} is a kind of history that cannot keep alerts")
        yield services.store
