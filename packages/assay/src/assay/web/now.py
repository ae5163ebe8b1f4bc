"""The first page: how everything stands, what changed, and what blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from assay.core.verdict import VerdictStatus
from assay.pipeline.past_runs.clock_ahead import clock_ahead
from assay.ports import RunSummary
from assay.ports.browsing import CaseCount, Count, JobState, Standing
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


class JobCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that are well, red, and neither."""

    well: int = 0
    red: int = 0
    inconclusive: int = 0
    other: int = 0


class FlowCount(JobCounts, frozen=True):
    """Those of one flow."""

    flow: str


class ModelCount(JobCounts, frozen=True):
    """Those of one case: a model with its inputs."""

    case: str


class Now(msgspec.Struct, frozen=True):
    """What the page shows. `branches`: the newest run of each. `models` are the worst. `answer` is one of: pass, fail, inconclusive,
    skip where nothing ran, "" for an empty history. `clock`: what is to be said of a run that is ahead of this machine's clock."""

    answer: str
    newest: RunSummary | None
    flows: tuple[FlowCount, ...]
    standing: Standing
    stale: tuple[StaleBaseline, ...]
    branches: tuple[RunSummary, ...] = ()
    clock: str = ""
    models: tuple[ModelCount, ...] = ()

    @property
    def red(self) -> int:
        return sum(flow.red for flow in self.flows)

    @property
    def skipped(self) -> int:
        return sum(flow.other for flow in self.flows)

    @property
    def well(self) -> int:
        return sum(flow.well for flow in self.flows)


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
    flows = tuple(FlowCount(flow, **jobs) for flow, jobs in _jobs((count.flow, count) for count in standing.counts))
    models = tuple(ModelCount(case, **jobs) for case, jobs in _jobs((count.case, count) for count in standing.of_cases))
    stale = site.minutes.get("stale", lambda: stale_baselines(site, newest))
    branches = tuple(site.store.branches(SHOWN))
    clock = clock_ahead(newest, datetime.now(UTC))
    return Now(_answer(flows), newest, flows, standing, stale, branches, clock, models)


def _jobs(counts: Iterable[tuple[str, Count | CaseCount]]) -> list[tuple[str, dict[str, int]]]:
    """What is counted of each name, the worst first."""
    by_name: dict[str, dict[str, int]] = {}
    for name, count in counts:
        of_name = by_name.setdefault(name, {"well": 0, "red": 0, "inconclusive": 0, "other": 0})
        of_name[_part(status(count))] += count.jobs
    return sorted(by_name.items(), key=lambda entry: (-entry[1]["red"], -entry[1]["inconclusive"], entry[0]))


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
    if flows and not any(flow.well for flow in flows):
        return "skip"
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
