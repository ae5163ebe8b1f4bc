"""New causes of a fuzzing session, told to the people that assay.toml names: one message each, once for a session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.commands.alerting import MOST, SHOW, delivery_lines, shown
from assay.core.alert import Alert, AlertFacts, AlertKind, AlertRules, Message
from assay.errors import HarnessError
from assay.fuzz.corpus import Bucket, Corpus, Session, is_cause
from assay.fuzz.issues import MOST_SCRIPT
from assay.fuzz.text import STATUSES
from assay.pipeline.services import Services
from assay.ports import KeepsAlerts

_CANNOT = (
    "alerts are not sent: this kind of history cannot keep what was told; use a folder or a postgresql+psycopg:// URL"
)


def tell_causes(
    session: Session, corpus: Corpus, services: Services, rules: AlertRules | None, mode: str
) -> tuple[str, ...]:
    """A line for each message that was sent, waits, is shown, or was not delivered. What was told is kept in the session."""
    new = [one for key, one in session.buckets.items() if is_cause(one) and key not in session.alerted]
    if rules is None or not new:
        return ()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    waiting = len(new) - MOST
    made = [*_messages(new[:MOST], corpus)]
    targets = tuple(one.name for one in rules.targets if AlertKind.FOUND in one.on)
    if mode == SHOW:
        return tuple(shown([(targets, message) for _, message in made]))
    try:
        lines = _sent(made, services, rules, now)
    except HarnessError as error:
        return (f"alerts of new causes were not sent ({error})",)
    if lines is None:
        return (_CANNOT,)
    session.alerted += [one.key for one in new[:MOST]]
    corpus.write(session)
    more = f"{waiting} more new causes are told by the next call: {MOST} at once are enough to read"
    return (*lines, more) if waiting > 0 else tuple(lines)


def _messages(new: Sequence[Bucket], corpus: Corpus) -> Iterator[tuple[Bucket, Message]]:
    """One for each."""
    from assay.alerts.message import message

    for one in new:
        yield one, message(_alert(one, ""), AlertKind.FOUND, _facts(one, corpus))


def _alert(one: Bucket, now: str) -> Alert:
    """Closed as soon as it is told: no run of the same jobs will say that it is well again."""
    job = f"{one.first}|{one.flow}|screen"
    return Alert(
        one.key[:8], AlertKind.FOUND, one.key, one.title, {}, "fuzz", one.found_at, "fuzz", one.found_at, (job,), now
    )


def _facts(one: Bucket, corpus: Corpus) -> AlertFacts:
    lines = [("What", STATUSES[one.status]), ("Since", f"case {one.first}, {one.found_at}")]
    if one.attributes:
        lines.append(("Matters", ", ".join(one.attributes)))
    if one.workaround:
        lines.append(("Workaround", one.workaround))
    lines.append(("Versions", ", ".join(f"{name} {version}" for name, version in sorted(one.versions.items()))))
    place = one.script or one.smallest
    return AlertFacts(
        jobs=(one.first,),
        lines=tuple((name, text) for name, text in lines if text),
        script=_script(one),
        commands=(
            ("See it again", f"python {place}" if one.script else place),
            ("All causes", f"assay fuzz report --corpus {corpus.folder}"),
        ),
    )


def _script(one: Bucket) -> str:
    """What a vendor can run, where triage wrote it."""
    path = Path(one.script) if one.script else None
    return path.read_text(encoding="utf-8")[:MOST_SCRIPT] if path is not None and path.is_file() else ""


def _sent(made: Sequence[tuple[Bucket, Message]], services: Services, rules: AlertRules, now: str) -> list[str] | None:
    """None where the history keeps no alerts. Raises HarnessError."""
    from assay.alerts.delivery import deliver, with_message
    from assay.alerts.send import send

    store = services.store
    if not isinstance(store, KeepsAlerts):
        return None
    fresh = [with_message(_alert(one, now), AlertKind.FOUND, message, rules, now) for one, message in made]
    ids = {one.id for one in fresh}
    store.change_alerts(lambda known: [*(one for one in known if one.id not in ids), *fresh])
    return delivery_lines(deliver(store, rules, send, datetime.now(UTC)))
