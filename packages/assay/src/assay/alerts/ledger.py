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
    held = {key for one in alerts if not one.closed_at and one.told for key in one.jobs}
    # A job that people know of and that proves nothing now: nothing says that it is well, or wrong in another way.
    shown = [one for one in red if not (one.kind in UNPROVEN and one.key in held and not _shows(alerts, one))]
    open_ = [one for one in alerts if not one.closed_at]
    closed = [one for one in alerts if one.closed_at]
    news: list[News] = []
    replaced: list[str] = []
    for group in _by_alert(causes(shown), [*open_, *closed]):
        known = _known([*open_, *closed], group)
        before = _others(open_, known, group)
        after = _joined(known, group, run, now, {one.id for one in (*open_, *closed)})
        keys = {one.key for one in group}
        open_ = [one for one in open_ if known is None or one.id != known.id]
        replaced += [one.id for one in open_ if one.jobs.keys() <= keys]
        open_ = [replace(one, jobs=_without(one.jobs, keys)) for one in open_]
        closed = [one for one in closed if known is None or one.id != known.id]
        open_.append(after)
        if fresh := _untold(after, group):
            kind = AlertKind.CHANGE if after.told else after.kind
            news.append(News(after, kind, tuple(fresh), before))
    done: list[Alert] = []
    for one in open_:
        after = replace(one, jobs=_without(one.jobs, passed))
        if after.jobs and one.kind is not AlertKind.TREND:
            done.append(after)
            continue
        well = bool(one.told) and one.id not in replaced and one.kind is not AlertKind.TREND
        # By what it was shown a muted one is known again.
        known_jobs = tuple(dict.fromkeys([*one.told, *one.jobs]))
        after = replace(after, closed_at=now, told=known_jobs, recovery_untold=well and one.is_muted(now))
        done.append(after)
        if well and not after.recovery_untold:
            news.append(News(after, AlertKind.RECOVERY))
    unmuted = {
        one.id: replace(one, recovery_untold=False) for one in closed if one.recovery_untold and not one.is_muted(now)
    }
    news += [News(one, AlertKind.RECOVERY) for one in unmuted.values()]
    return [*(unmuted.get(one.id, one) for one in closed), *done], news


def as_told(alert: Alert, news: News) -> Alert:
    """The alert after people were told of the news."""
    return replace(alert, told=tuple(dict.fromkeys([*alert.told, *(one.key for one in news.red)])))


def kept(alerts: Sequence[Alert], now: str) -> list[Alert]:
    """Those that are open, muted, or have a message that waits; and what fuzzing found and people know, so that it is told once."""
    return [one for one in alerts if not one.is_over(now) or (one.kind is AlertKind.FOUND and one.told)]


def _without(jobs: dict[str, int], keys: AbstractSet[str]) -> dict[str, int]:
    return {key: count for key, count in jobs.items() if key not in keys}


def _shows(alerts: Sequence[Alert], red: RedJob) -> bool:
    return any(red.key in one.jobs and one.symptom == red.symptom for one in alerts if not one.closed_at)


def _by_alert(groups: Sequence[list[RedJob]], alerts: Sequence[Alert]) -> list[list[RedJob]]:
    """Those that one alert knows are one: its first job may be well, by which they belonged together."""
    found: dict[str | int, list[RedJob]] = {}
    for number, group in enumerate(groups):
        known = _known(alerts, group)
        found.setdefault(known.id if known else number, []).extend(group)
    return list(found.values())


def _known(alerts: Sequence[Alert], group: Sequence[RedJob]) -> Alert | None:
    """The alert of this cause: one with the symptom that shares a model or a flow of a backend; of the open ones first, then of the closed,
    which are muted."""
    keys = {one.key for one in group}
    near = {one.case for one in group} | {f"|{one.flow}" for one in group if one.backend}
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
        first = {one.key: 1 for one in group}
        return Alert(
            _identity(group[0], taken), group[0].kind, group[0].symptom, headline(group), first, run, now, run, now
        )
    again = known.last_run == run
    jobs = known.jobs | {
        one.key: known.jobs.get(one.key, 0) + 1 for one in group if not (again and one.key in known.jobs)
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
    found = (value_digest((first.symptom, first.key, number))[:8] for number in itertools.count())
    return next(one for one in found if one not in taken)


def _others(open_: Sequence[Alert], known: Alert | None, group: Sequence[RedJob]) -> str:
    keys = {one.key for one in group}
    own = known.id if known else ""
    return next((one.headline for one in open_ if one.id != own and one.told and keys & one.jobs.keys()), "")


def _untold(after: Alert, group: Sequence[RedJob]) -> list[RedJob]:
    least = TWICE.get(after.kind, 1)
    return [one for one in group if one.key not in after.told and after.jobs[one.key] >= least]
