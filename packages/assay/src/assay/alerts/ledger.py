"""What a run changes in the open alerts, and what is news of it. Pure: it reads no history and sends nothing.

A job joins the alert of its cause, and leaves it when it passes, or fails in another way. One that proves nothing now, or is skipped,
stays in the alert that it is in. An alert without jobs is closed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import msgspec
from msgspec.structs import replace

from assay.alerts.causes import causes, headline
from assay.core.alert import Alert, AlertKind, RedJob
from assay.core.digest import value_digest

TWICE = {AlertKind.INCONCLUSIVE: 2}
"""Runs in a row before a kind is told; one for others."""
UNPROVEN = (AlertKind.INCONCLUSIVE, AlertKind.CHANGE)


class News(msgspec.Struct, frozen=True):
    """Something to tell. `red` are the jobs that are new in it, `jobs` all that the alert has. `before` is what these jobs had until now,
    "" where nothing was known."""

    alert: Alert
    kind: AlertKind
    red: tuple[RedJob, ...] = ()
    before: str = ""


def update(
    alerts: Sequence[Alert], red: Sequence[RedJob], passed: AbstractSet[str], run: str, now: str
) -> tuple[list[Alert], list[News]]:
    """The alerts after a run, and the news in them. News says what is to be told; that it was is for `as_told`."""
    held = {key for alert in alerts if not alert.closed_at and alert.told for key in alert.jobs}
    # A job that people know of and that proves nothing now: nothing says that it is well, or wrong in another way.
    shown = [
        red_job
        for red_job in red
        if not (red_job.kind in UNPROVEN and red_job.key in held and not _shows(alerts, red_job))
    ]
    open_ = [alert for alert in alerts if not alert.closed_at]
    closed = [alert for alert in alerts if alert.closed_at]
    news: list[News] = []
    replaced: list[str] = []
    for group in _by_alert(causes(shown), [*open_, *closed]):
        known = _known([*open_, *closed], group)
        before = _others(open_, known, group)
        after = _joined(known, group, run, now, {alert.id for alert in (*open_, *closed)})
        keys = {red_job.key for red_job in group}
        open_ = [alert for alert in open_ if known is None or alert.id != known.id]
        replaced += [alert.id for alert in open_ if alert.jobs.keys() <= keys]
        open_ = [replace(alert, jobs=_without(alert.jobs, keys)) for alert in open_]
        closed = [alert for alert in closed if known is None or alert.id != known.id]
        open_.append(after)
        if fresh := _untold(after, group):
            kind = AlertKind.CHANGE if after.told else after.kind
            news.append(News(after, kind, tuple(fresh), before))
    done: list[Alert] = []
    for alert in open_:
        after = replace(alert, jobs=_without(alert.jobs, passed))
        if after.jobs and alert.kind is not AlertKind.TREND:
            done.append(after)
            continue
        well = bool(alert.told) and alert.id not in replaced and alert.kind is not AlertKind.TREND
        # By what it was shown a muted one is known again.
        known_jobs = tuple(dict.fromkeys([*alert.told, *alert.jobs]))
        after = replace(after, closed_at=now, told=known_jobs, recovery_untold=well and alert.is_muted(now))
        done.append(after)
        if well and not after.recovery_untold:
            news.append(News(after, AlertKind.RECOVERY))
    unmuted = {
        alert.id: replace(alert, recovery_untold=False)
        for alert in closed
        if alert.recovery_untold and not alert.is_muted(now)
    }
    news += [News(alert, AlertKind.RECOVERY) for alert in unmuted.values()]
    return [*(unmuted.get(alert.id, alert) for alert in closed), *done], news


def as_told(alert: Alert, news: News) -> Alert:
    """The alert after people were told of the news."""
    return replace(alert, told=tuple(dict.fromkeys([*alert.told, *(red_job.key for red_job in news.red)])))


def kept(alerts: Sequence[Alert], now: str) -> list[Alert]:
    """Those that are open, muted, or have a message that waits; and what fuzzing found and people know, so that it is told once."""
    return [alert for alert in alerts if not alert.is_over(now) or (alert.kind is AlertKind.FOUND and alert.told)]


def _without(jobs: dict[str, int], keys: AbstractSet[str]) -> dict[str, int]:
    return {key: count for key, count in jobs.items() if key not in keys}


def _shows(alerts: Sequence[Alert], red: RedJob) -> bool:
    return any(red.key in alert.jobs and alert.symptom == red.symptom for alert in alerts if not alert.closed_at)


def _by_alert(groups: Sequence[list[RedJob]], alerts: Sequence[Alert]) -> list[list[RedJob]]:
    """Those that one alert knows are one: its first job may be well, by which they belonged together."""
    grouped: dict[str | int, list[RedJob]] = {}
    for number, group in enumerate(groups):
        known = _known(alerts, group)
        grouped.setdefault(known.id if known else number, []).extend(group)
    return list(grouped.values())


def _known(alerts: Sequence[Alert], group: Sequence[RedJob]) -> Alert | None:
    """The alert of this cause: one with the symptom that shares a model or a flow of a backend; of the open ones first, then of the closed,
    which are muted."""
    keys = {red_job.key for red_job in group}
    near = {red_job.case for red_job in group} | {f"|{red_job.flow}" for red_job in group if red_job.backend}
    for alert in alerts:
        if (alert.symptom, alert.kind) != (group[0].symptom, group[0].kind):
            continue
        cells = [key.split("|") for key in (*alert.jobs, *alert.told)]
        if keys & {*alert.jobs, *alert.told} or near & {
            name for case, flow, *_ in cells for name in (case, f"|{flow}")
        }:
            return alert
    return None


def _joined(known: Alert | None, group: Sequence[RedJob], run: str, now: str, taken: AbstractSet[str]) -> Alert:
    if known is None:
        first = {red_job.key: 1 for red_job in group}
        return Alert(
            _identity(group[0], taken), group[0].kind, group[0].symptom, headline(group), first, run, now, run, now
        )
    again = known.last_run == run
    jobs = known.jobs | {
        red_job.key: known.jobs.get(red_job.key, 0) + 1
        for red_job in group
        if not (again and red_job.key in known.jobs)
    }
    # What is still wrong at the end of a mute is news again.
    unmuted = known.mute is not None and not known.is_muted(now)
    forgotten = unmuted or (known.closed_at and not known.recovery_untold)
    return replace(
        known,
        jobs=jobs,
        last_run=run,
        last_at=now,
        closed_at="",
        told=() if forgotten else known.told,
        recovery_untold=False,
        mute=None if unmuted else known.mute,
    )


def _identity(first: RedJob, taken: AbstractSet[str]) -> str:
    """The same in each run, so that what a dry run shows is what the alert will have."""
    identities = (value_digest((first.symptom, first.key, number))[:8] for number in itertools.count())
    return next(candidate for candidate in identities if candidate not in taken)


def _others(open_: Sequence[Alert], known: Alert | None, group: Sequence[RedJob]) -> str:
    keys = {red_job.key for red_job in group}
    own = known.id if known else ""
    return next((alert.headline for alert in open_ if alert.id != own and alert.told and keys & alert.jobs.keys()), "")


def _untold(after: Alert, group: Sequence[RedJob]) -> list[RedJob]:
    least = TWICE.get(after.kind, 1)
    return [red_job for red_job in group if red_job.key not in after.told and after.jobs[red_job.key] >= least]
