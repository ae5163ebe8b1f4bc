"""After a run: what is news of it goes to the people that assay.toml names. Whatever fails here is told, and changes no verdict."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import msgspec

from assay.core.alert import Alert, AlertKind, AlertRules, Message
from assay.errors import HarnessError
from assay.options.groups import DEFAULT_CONFIG
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked
from assay.ports import KeepsAlerts

if TYPE_CHECKING:
    from assay.alerts.delivery import Delivered
    from assay.config.assay_toml import Config
    from assay.core.alert import RedJob
    from assay.core.outcome import Outcome

SEND, SHOW, OFF = "send", "show", "off"
MOST = 10
"""Causes of one run that get a message each; what is more stands in one."""
GRAVEST_FIRST = tuple(AlertKind)
TRIES = 20
_CANNOT = "alerts are not sent: this kind of history cannot keep which alerts were sent; use a folder or a postgresql+psycopg:// URL"


_NOBODY = "no alert would be sent: assay.toml has no [[alerts.target]] (docs/alerts.md)"


class Plan(msgspec.Struct, frozen=True):
    """What a run gives people to read: (target names, message) of each, and the alerts after it."""

    alerts: tuple[Alert, ...]
    messages: tuple[tuple[tuple[str, ...], Message], ...] = ()


def rules_for(mode: str, config: Config | None) -> AlertRules | None:
    """Those of the configuration that is read anyway, or of ./assay.toml; None where nobody is to be told. Raises BadPolicy."""
    if mode == OFF:
        return None
    rules = config.alerts if config else rules_here()
    unset = rules is not None and rules.only_with and not os.environ.get(rules.only_with)
    return None if unset and mode != SHOW else rules


def rules_here(path: Path | None = None) -> AlertRules | None:
    """Of ./assay.toml, if it is there and has a table [alerts]. Raises BadPolicy for what is wrong with it."""
    file = path or Path(DEFAULT_CONFIG)
    try:
        if path is None and "alerts" not in file.read_text(encoding="utf-8", errors="replace"):
            return None
    except OSError:
        return None
    from assay.config.assay_toml import load_alerts

    return load_alerts(file)


def with_alerts(checked: Checked, services: Services, rules: AlertRules | None, mode: str) -> Checked:
    """The run with a line for each thing that was sent, is shown, or could not be sent."""
    if rules is None:
        return replace(checked, alerts=(_NOBODY,)) if mode == SHOW else checked
    try:
        lines = alert_lines(checked, services, rules, show=mode == SHOW)
    except Exception as error:  # noqa: BLE001 - the run is over and judged: nothing here may change that
        reason = str(error) if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        lines = [f"alerts of this run were not sent, its verdict stands ({reason})"]
    return replace(checked, alerts=tuple(lines))


def alert_lines(checked: Checked, services: Services, rules: AlertRules, *, show: bool) -> list[str]:
    """What is told or shown. Raises HarnessError."""
    from assay.alerts.delivery import deliver
    from assay.alerts.send import send

    store = services.store
    if not isinstance(store, KeepsAlerts):
        return [_CANNOT]
    red, passed = _seen(checked, services, rules)
    for _ in range(TRIES):
        before = store.alerts()
        plan = _plan(before, red, passed, checked, services, rules)
        if show:
            return shown(plan.messages, _still_waiting(before, plan.alerts, rules))
        if _put(store, before, plan.alerts):
            break
    services.progress.doing("sending alerts")
    return delivery_lines(deliver(store, rules, send, datetime.now(UTC)))


def delivery_lines(done: Delivered) -> list[str]:
    """A line for each message that was sent or waits, and for each target that failed."""
    lines = [f"alert sent to {name}: {subject}" for name, subject in done.sent]
    lines += [f"alert for {name} waits for the end of quiet hours: {subject}" for name, subject in done.quiet]
    return [*lines, *(f"{text}; the next run tries again" for text in done.failed)]


def _still_waiting(before: Sequence[Alert], after: Sequence[Alert], rules: AlertRules) -> list[str]:
    """A line for each message of an earlier run that some targets have not taken, and that would be tried again with this one."""
    left = {(alert.id, waiting) for alert in after for waiting in alert.waiting}
    known = {target.name for target in rules.targets}
    names: dict[str, list[str]] = {}
    for alert in before:
        for waiting in alert.waiting:
            if waiting.target in known and (alert.id, waiting) in left:
                names.setdefault(waiting.message.subject, []).append(waiting.target)
    return [f"waits for {', '.join(targets)} since an earlier run: {subject}" for subject, targets in names.items()]


def shown(messages: Sequence[tuple[tuple[str, ...], Message]], waiting: Sequence[str] = ()) -> list[str]:
    """A dry run: each message as text, and what waits already."""
    if not messages:
        return ["no new alert would be sent", *waiting] if waiting else ["no alert would be sent"]
    lines: list[str] = [*waiting, ""] if waiting else []
    for names, message in messages:
        lines += [f"would be sent to {', '.join(names) or 'nobody (no target takes this kind)'}:", ""]
        lines += [f"    {line}".rstrip() for line in (f"Subject: {message.subject}", "", *message.text.splitlines())]
        lines.append("")
    return lines[:-1]


def _put(store: KeepsAlerts, before: list[Alert], after: Sequence[Alert]) -> bool:
    """False where another run changed the alerts meanwhile: what it told is not told again."""
    done = False

    def put(now: list[Alert]) -> Sequence[Alert]:
        nonlocal done
        done = now == before
        return after if done else now

    store.change_alerts(put)
    return done


def _seen(checked: Checked, services: Services, rules: AlertRules) -> tuple[list[RedJob], set[str]]:
    from assay.alerts.causes import red_jobs, run_key
    from assay.core.outcome import Outcome
    from assay.core.verdict import Verdict, VerdictStatus
    from assay.judge.coverage import EXIT_NOTHING
    from assay.pipeline.past_runs.trend_alarms import trend_alarms

    run, verdicts = checked.run, list(checked.judgement.verdicts)
    if checked.judgement.exit_code == EXIT_NOTHING:
        verdicts.append(Verdict(VerdictStatus.ERROR, checked.judgement.run.reason))
    # What an old engine of a comparison did is no news.
    verdicts = [verdict for verdict in verdicts if verdict.job_key not in run.compared.values()]
    red, passed = red_jobs(verdicts, checked.results, run.jobs, run.command)
    if run.narrowed:  # a part of a run answers nothing of the whole
        passed.discard(run_key(run.command))
    store = services.store
    assert isinstance(store, KeepsAlerts)
    known = {key for alert in store.alerts() for key in alert.jobs}

    skipped = [red_job for red_job in red if red_job.kind is AlertKind.CHANGE and red_job.key not in known]
    before = _outcomes_before(run.id, skipped, services)
    red = [red_job for red_job in red if red_job not in skipped or before.get(red_job.key) is Outcome.OK]
    if AlertKind.TREND in {kind for target in rules.targets for kind in target.on}:
        red += trend_alarms(run, checked.results, rules.trend_metrics, services)
    return red, passed


def _outcomes_before(run: str, red: Sequence[RedJob], services: Services) -> dict[str, Outcome]:
    """How jobs ended in the run before that has one of these cells."""
    old = services.store.run_before(run, {(red_job.case, red_job.flow) for red_job in red}) if red else ""
    return {result.job_key: result.outcome for result in services.store.results(old)} if old else {}


def _plan(
    before: Sequence[Alert],
    red: Sequence[RedJob],
    passed: set[str],
    checked: Checked,
    services: Services,
    rules: AlertRules,
) -> Plan:
    from assay.alerts.delivery import with_digest, with_message
    from assay.alerts.ledger import as_told, kept, update
    from assay.alerts.message import digest, message
    from assay.pipeline.past_runs.alert_facts import facts_of_news

    now = datetime.now(UTC).isoformat(timespec="seconds")
    alerts, news_of_run = update(before, red, passed, checked.run.id, now)
    by_id = {known_alert.id: known_alert for known_alert in alerts}
    kinds = {kind for target in rules.targets for kind in target.on}
    news = [item for item in news_of_run if item.kind in kinds and not item.alert.is_muted(now)]
    news.sort(key=lambda item: GRAVEST_FIRST.index(item.kind))
    rest = news[MOST:] if len(news) > MOST + 1 else []
    link = report_link(rules.report_url, checked.run.id)
    messages = []
    for item in news[: len(news) - len(rest)]:
        facts = facts_of_news(item.alert, item.red, item.before, checked.run, services.store, services.history)
        made = message(item.alert, item.kind, msgspec.structs.replace(facts, link=link))
        after = with_message(by_id[item.alert.id], item.kind, made, rules, now)
        messages.append((_receivers(after, made), made))
        by_id[item.alert.id] = as_told(after, item)
    if rest:
        changes = [(item.kind, by_id[item.alert.id]) for item in rest]
        changed = with_digest(changes, lambda its_news: digest(its_news, link), rules, now)
        digests = {waiting.message: None for waiting in changed[0].waiting if waiting.many and waiting.since == now}
        messages += [(_receivers(changed[0], made), made) for made in digests]
        by_id |= {after.id: as_told(after, item) for after, item in zip(changed, rest, strict=True)}
    return Plan(tuple(kept(list(by_id.values()), now)), tuple(messages))


def _receivers(alert: Alert, made: Message) -> tuple[str, ...]:
    return tuple(waiting.target for waiting in alert.waiting if waiting.message is made)


def report_link(pattern: str, run: str) -> str:
    """`pattern` with the run and with variables of the environment; "" where one of them is not set."""
    link = Template(pattern).safe_substitute(os.environ).replace("{run}", run)
    return link if link.startswith(("http://", "https://")) and "$" not in link else ""
