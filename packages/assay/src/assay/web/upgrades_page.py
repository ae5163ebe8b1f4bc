"""What `assay upgrade` said of releases of a backend: each time that it was asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from assay.triage.kept_upgrades import KeptUpgrade, read_upgrades
from assay.triage.triage_text import title_of
from assay.triage.upgrade import ModelChange
from assay.triage.upgrade_text import model_text, verdict
from assay.web.answer import Answer, NotFound, page_number
from assay.web.causes_page import cause_id, read_lives
from assay.web.site import Site

SHOWN = 20
HEADER = ("id", "at", "backend", "old", "new", "way", "model", "answers", "old_error", "new_error", "speed", "ratio")


class UpgradeReport(msgspec.Struct, frozen=True):
    """`way` is go, go with options or stay, `says` the line of the command. `models`: name, what is so of it, whether it speaks against
    the upgrade. `causes`: title, and the id of its page, "" where that is gone."""

    id: str
    at: str
    backend: str
    old: str
    new: str
    way: str
    says: str
    models: tuple[tuple[str, str, bool], ...]
    causes: tuple[tuple[str, str], ...]


class Upgrades(msgspec.Struct, frozen=True):
    """The newest first."""

    upgrades: tuple[UpgradeReport, ...]


def upgrades(site: Site, query: Mapping[str, str]) -> Answer:
    """All, or the one that the address names. Raises NotFound."""
    kept: list[KeptUpgrade] = site.minutes.get("upgrades", lambda: list(read_upgrades(site.folder)))
    identity, page = query.get("id", ""), page_number(query.get("page", ""))
    kept_upgrades = [kept_upgrade for kept_upgrade in kept if identity in ("", kept_upgrade.id)]
    shown = kept_upgrades[(page - 1) * SHOWN : page * SHOWN]
    if identity and not kept_upgrades:
        raise NotFound("there is no such upgrade here: /upgrades lists them")
    if page > 1 and not shown:
        raise NotFound("there is no such page: it lies behind the last one")
    pages = {life.id for life in read_lives(site)}
    reports = tuple(_report(kept_upgrade, pages) for kept_upgrade in shown)
    values = {"upgrades": reports, "page": page, "more": len(kept_upgrades) > page * SHOWN, "only": bool(identity)}
    rows = [_row(kept_upgrade, model) for kept_upgrade in kept_upgrades for model in kept_upgrade.found.models]
    return Answer("upgrades.html.j2", values, Upgrades(reports), HEADER, rows)


def _report(kept: KeptUpgrade, pages: Collection[str]) -> UpgradeReport:
    upgrade = kept.found
    against = {stop.model for stop in upgrade.stops}
    models = tuple((model.model, model_text(model), model.model in against) for model in upgrade.models)
    ids = [cause_id(cause.folder, cause.job_key) for cause in upgrade.causes]
    causes = tuple(
        (title_of(cause), page if page in pages else "") for cause, page in zip(upgrade.causes, ids, strict=True)
    )
    cells = (kept.id, kept.at, upgrade.backend, upgrade.old, upgrade.new, upgrade.way, verdict(upgrade))
    return UpgradeReport(*cells, models, causes)


def _row(kept: KeptUpgrade, model_change: ModelChange) -> tuple[object, ...]:
    upgrade = kept.found
    of_all = (kept.id, kept.at, upgrade.backend, upgrade.old, upgrade.new, upgrade.way)
    return (
        *of_all,
        model_change.model,
        model_change.answers.value,
        model_change.old_error,
        model_change.new_error,
        model_change.speed.value,
        model_change.ratio,
    )
