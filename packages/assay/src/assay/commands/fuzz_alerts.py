"""New causes of a fuzzing session, told to the people that assay.toml names: one message each, once, whatever becomes of the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.commands.alerting import MOST, SEND, SHOW, delivery_lines, shown
from assay.commands.alerts import rules_of
from assay.commands.composition import open_services
from assay.core.alert import Alert, AlertFacts, AlertKind, AlertRules, Message
from assay.errors import HarnessError
from assay.fuzz.corpus import Bucket, Corpus, Session, is_cause
from assay.fuzz.fuzz_text import STATUSES
from assay.fuzz.issues import MOST_SCRIPT
from assay.pipeline.adapters import Services
from assay.ports import KeepsAlerts

if TYPE_CHECKING:
    from assay.alerts.delivery import Delivered

_CANNOT = "alerts are not sent: this kind of history cannot keep which alerts were sent; use a folder or a postgresql+psycopg:// URL"


@dataclass(frozen=True)
class Told:
    """A line for each message that was sent, waits, is shown, or was not delivered; and whether all that is due arrived."""

    lines: tuple[str, ...] = ()
    arrived: bool = True


def send_causes(session: Session, corpus: Corpus, history: str, config: Path | None) -> Told:
    """What was found and told to nobody yet; no worker is started. Raises UsageError where nobody is to be told."""
    rules = rules_of(config)
    with open_services(history, recorded=True) as services:
        return tell_causes(session, corpus, services, rules, SEND)


def tell_causes(session: Session, corpus: Corpus, services: Services, rules: AlertRules | None, mode: str) -> Told:
    """What was told is kept in the session, once nobody waits for it."""
    new = [bucket for key, bucket in session.buckets.items() if is_cause(bucket) and key not in session.alerted]
    if rules is None:
        return Told()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    targets = tuple(target.name for target in rules.targets if AlertKind.FOUND in target.on)
    store = services.store
    if mode == SHOW:
        fresh = _unknown(new, store.alerts()) if isinstance(store, KeepsAlerts) else new
        messages = [(targets, message) for _, message in _messages(fresh[:MOST], corpus)]
        return Told(tuple(shown(messages)) if messages else ())
    if not isinstance(store, KeepsAlerts):
        return Told((_CANNOT,), arrived=False) if new else Told()
    if not targets:
        return Told()
    try:
        known = store.alerts()
        if not new and not any(alert.waiting for alert in known if alert.kind is AlertKind.FOUND):
            return Told()
        fresh = _unknown(new, known)
        done = _sent([*_messages(fresh[:MOST], corpus)], store, rules, now)
        delivered = {alert.id for alert in store.alerts() if alert.told and not alert.waiting}
    except HarnessError as error:
        return Told((f"alerts of new causes were not sent ({error})",), arrived=False)
    session.alerted += [bucket.key for bucket in new if _id(bucket) in delivered]
    corpus.write(session)
    waiting = len(fresh) - MOST
    more = f"{waiting} more new causes are sent by the next call: {MOST} at once are enough to read"
    return Told((*delivery_lines(done), *([more] if waiting > 0 else [])), not done.failed)


def _unknown(new: Sequence[Bucket], alerts: Sequence[Alert]) -> list[Bucket]:
    """Those that the history has no alert of. It knows more than the session, which may be lost and begun again."""
    known = {alert.id for alert in alerts}
    return [bucket for bucket in new if _id(bucket) not in known]


def _id(bucket: Bucket) -> str:
    return bucket.key[:8]


def _messages(new: Sequence[Bucket], corpus: Corpus) -> Iterator[tuple[Bucket, Message]]:
    """One for each."""
    from assay.alerts.message import message

    for bucket in new:
        yield bucket, message(_alert(bucket, ""), AlertKind.FOUND, _facts(bucket, corpus))


def _alert(bucket: Bucket, now: str) -> Alert:
    """Closed as soon as it is told: no run of the same jobs will say that it is well again."""
    job = f"{bucket.first}|{bucket.flow}|screen"
    return Alert(
        _id(bucket),
        AlertKind.FOUND,
        bucket.key,
        bucket.title,
        {job: 1},
        "fuzz",
        bucket.found_at,
        "fuzz",
        bucket.found_at,
        closed_at=now,
    )


def _facts(bucket: Bucket, corpus: Corpus) -> AlertFacts:
    lines = [("What", STATUSES[bucket.status]), ("Since", f"case {bucket.first}, {bucket.found_at}")]
    if bucket.attributes:
        lines.append(("Matters", ", ".join(bucket.attributes)))
    if bucket.workaround:
        lines.append(("Workaround", bucket.workaround))
    lines.append(("Versions", ", ".join(f"{name} {version}" for name, version in sorted(bucket.versions.items()))))
    place = bucket.script or bucket.smallest
    return AlertFacts(
        jobs=(bucket.first,),
        lines=tuple((name, text) for name, text in lines if text),
        script=_script(bucket),
        commands=(
            ("See it again", f"python {place}" if bucket.script else place),
            ("All causes", f"assay fuzz report --corpus {corpus.folder}"),
        ),
    )


def _script(bucket: Bucket) -> str:
    """What a vendor can run, where triage wrote it."""
    path = Path(bucket.script) if bucket.script else None
    return path.read_text(encoding="utf-8")[:MOST_SCRIPT] if path is not None and path.is_file() else ""


def _sent(made: Sequence[tuple[Bucket, Message]], store: KeepsAlerts, rules: AlertRules, now: str) -> Delivered:
    """These and what waits of calls before. Raises HarnessError."""
    from assay.alerts.delivery import deliver, with_message
    from assay.alerts.send import send

    fresh = [with_message(_alert(bucket, now), AlertKind.FOUND, message, rules, now) for bucket, message in made]

    def add(known: list[Alert]) -> Sequence[Alert]:
        ids = {alert.id for alert in known}
        return [*known, *(alert for alert in fresh if alert.id not in ids)]

    store.change_alerts(add)
    return deliver(store, rules, send, datetime.now(UTC))
