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
    open_alerts = tuple(_shown(alert, now) for alert in known if not alert.is_over(now))
    rows = [
        (
            *(
                open_alert.id,
                open_alert.kind,
                open_alert.headline,
                open_alert.first_at,
                open_alert.last_at,
                len(open_alert.jobs),
            ),
            *(open_alert.closed_at, open_alert.muted_until, open_alert.muted_by, open_alert.mute_reason),
        )
        for open_alert in open_alerts
    ]
    return Answer("alerts.html.j2", {"alerts": open_alerts}, Alerts(open_alerts), HEADER, rows)


def _shown(alert: Alert, now: str) -> OpenAlert:
    mute = alert.mute if alert.is_muted(now) else None
    return OpenAlert(
        *(alert.id, alert.kind.value, alert.headline, alert.first_run, alert.first_at, alert.last_run, alert.last_at),
        tuple(sorted(alert.jobs)),
        alert.closed_at,
        *((mute.until, mute.who, mute.reason) if mute else ()),
    )
