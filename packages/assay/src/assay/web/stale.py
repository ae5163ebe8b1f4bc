"""Approved engines that say nothing any more."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from assay.commands.composition import reading_services
from assay.errors import AssayError
from assay.pipeline.baselines.find_baseline import baselines
from assay.ports import RunSummary
from assay.web.site import Site

OLD_DAYS = 180
"""An approval of that age is stale, too."""


class StaleBaseline(msgspec.Struct, frozen=True):
    """`reason`: a sentence."""

    case: str
    flow: str
    reason: str


def stale_baselines(site: Site, newest: RunSummary | None) -> tuple[StaleBaseline, ...]:
    """Of those in the history's folder: approved long ago, or for another model than the newest result of their cell is about; beside
    them those that the newest run could not compare with."""
    if newest is None:
        return ()
    return (*_old(site), *_in_trouble(site, newest))


def _old(site: Site) -> list[StaleBaseline]:
    old_baselines = []
    try:
        known = list(baselines(reading_services(site.folder, site.store)))
    except AssayError:
        return []  # a damaged one is told by the commands that use it
    for baseline in known:
        days = _age_days(baseline.created_at)
        reason = f"approved {days:.0f} days ago" if days > OLD_DAYS else ""
        try:
            run, _ = site.store.cell("", baseline.case, baseline.flow.name)
        except AssayError:
            reason = reason or "no run has this cell any more"
        else:
            if any(job.case.model.digest != baseline.model.digest for job in run.jobs):
                reason = "the model file has changed since it was approved"
        if reason:
            old_baselines.append(StaleBaseline(baseline.case, baseline.flow.name, reason))
    return old_baselines


def _in_trouble(site: Site, newest: RunSummary) -> list[StaleBaseline]:
    run = site.settled.get(("baselines", newest.id), lambda: site.store.run_facts(newest.id).baselines)
    return [
        StaleBaseline(baseline_engine.model.name, baseline_engine.flow.name, baseline_engine.trouble)
        for baseline_engine in run
        if baseline_engine.trouble
    ]


def _age_days(created_at: str) -> float:
    try:
        at = datetime.fromisoformat(created_at)
    except ValueError:
        return 0.0
    return (datetime.now(UTC) - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds() / 86_400
