"""The first page: how everything stands, what changed, and what blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from assay.core.verdict import VerdictStatus
from assay.pipeline.clock_ahead import clock_ahead
from assay.ports import RunSummary
from assay.ports.browsing import Count, JobState, Standing
from assay.web.answer import Answer
from assay.web.format import status
from assay.web.site import Site
from assay.web.stale import StaleBaseline, stale_baselines

DAYS = 7.0
"""What changed within so many days of the newest run is new."""
LOOKED_AT = 30
"""Runs in which a flaky job turned at least twice."""
SHOWN = 25
WELL = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value)
HEADER = ("list", "case", "flow", "kind", "outcome", "verdict", "run", "since", "last_ok", "runs_in_a_row")


class FlowCount(msgspec.Struct, frozen=True):
    """Jobs of one flow: well, red, and neither."""

    flow: str
    well: int
    red: int
    inconclusive: int
    other: int


class Now(msgspec.Struct, frozen=True):
    """What the page shows. `branches`: the newest run of each. `answer` is one of: pass, fail, inconclusive, "" for an empty history.
    `clock`: what is to be said of a run that is ahead of this machine's clock."""

    answer: str
    newest: RunSummary | None
    flows: tuple[FlowCount, ...]
    standing: Standing
    stale: tuple[StaleBaseline, ...]
    branches: tuple[RunSummary, ...] = ()
    clock: str = ""

    @property
    def red(self) -> int:
        return sum(flow.red for flow in self.flows)


def read_now(site: Site) -> Now:
    """As it was at most a second ago."""
    return site.moving.get("now", lambda: _read(site))


def now(site: Site, query: Mapping[str, str]) -> Answer:  # noqa: ARG001
    state = read_now(site)
    values = {"now": state, "days": int(DAYS), "looked_at": LOOKED_AT, "shown": SHOWN}
    return Answer("now.html.j2", values, state, HEADER, list(_rows(state.standing)))


def _read(site: Site) -> Now:
    standing = site.store.standing(DAYS, LOOKED_AT, SHOWN)
    newest = next(iter(site.store.runs(1)), None)
    flows = _flows(standing.counts)
    stale = site.minutes.get("stale", lambda: stale_baselines(site, newest))
    branches = tuple(site.store.branches(SHOWN))
    return Now(_answer(flows), newest, flows, standing, stale, branches, clock_ahead(newest, datetime.now(UTC)))


def _flows(counts: Sequence[Count]) -> tuple[FlowCount, ...]:
    by_flow: dict[str, dict[str, int]] = {}
    for count in counts:
        of_flow = by_flow.setdefault(count.flow, {"well": 0, "red": 0, "inconclusive": 0, "other": 0})
        of_flow[_part(status(count))] += count.jobs
    rows = [FlowCount(flow, **numbers) for flow, numbers in by_flow.items()]
    return tuple(sorted(rows, key=lambda row: (-row.red, -row.inconclusive, row.flow)))


def _part(word: str) -> str:
    if word in WELL:
        return "well"
    if word == VerdictStatus.INCONCLUSIVE.value:
        return "inconclusive"
    return "other" if word == VerdictStatus.SKIP.value else "red"


def _answer(flows: Sequence[FlowCount]) -> str:
    if any(flow.red for flow in flows):
        return "fail"
    if any(flow.inconclusive for flow in flows):
        return "inconclusive"
    return "pass" if flows else ""


def _rows(standing: Standing) -> list[tuple[object, ...]]:
    named = ("red", "newly_red", "newly_green", "inconclusive")
    lists: list[tuple[str, Sequence[JobState]]] = [(name, getattr(standing, name)) for name in named]
    rows: list[tuple[object, ...]] = [
        (
            name,
            state.case,
            state.flow,
            state.kind,
            state.outcome,
            state.word,
            state.run,
            state.since,
            state.last_ok,
            state.streak,
        )
        for name, states in lists
        for state in states
    ]
    rows += [
        ("flaky", unsteady.case, unsteady.flow, unsteady.kind, unsteady.outcome, "", unsteady.run, "", "", "")
        for unsteady in standing.turning
    ]
    return rows
