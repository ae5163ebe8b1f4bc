"""What people were told of, and who does not want to be told for a while."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from assay.core.alert import Alert
from assay.ports import KeepsAlerts
from assay.web.answer import Answer
from assay.web.site import Site

HEADER = (
    "id",
    "kind",
    "headline",
    "first_at",
    "last_at",
    "jobs",
    "closed_at",
    "muted_until",
    "muted_by",
    "mute_reason",
)


class OpenAlert(msgspec.Struct, frozen=True):
    """One cause that is open. No address and no text of a message is in it."""

    id: str
    kind: str
    headline: str
    first_run: str
    first_at: str
    last_run: str
    last_at: str
    jobs: tuple[str, ...]
    closed_at: str = ""
    muted_until: str = ""
    muted_by: str = ""
    mute_reason: str = ""


class Alerts(msgspec.Struct, frozen=True):
    """The oldest first."""

    alerts: tuple[OpenAlert, ...]


def alerts(site: Site, query: Mapping[str, str]) -> Answer:  # noqa: ARG001
    known = site.store.alerts() if isinstance(site.store, KeepsAlerts) else []
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = tuple(_shown(one, now) for one in known if not one.is_over(now))
    rows = [
        (
            *(one.id, one.kind, one.headline, one.first_at, one.last_at, len(one.jobs)),
            *(one.closed_at, one.muted_until, one.muted_by, one.mute_reason),
        )
        for one in found
    ]
    return Answer("alerts.html.j2", {"alerts": found}, Alerts(found), HEADER, rows)


def _shown(one: Alert, now: str) -> OpenAlert:
    mute = one.mute if one.is_muted(now) else None
    return OpenAlert(
        *(one.id, one.kind.value, one.headline, one.first_run, one.first_at, one.last_run, one.last_at),
        tuple(sorted(one.jobs)),
        one.closed_at,
        *((mute.until, mute.who, mute.reason) if mute else ()),
    )
