"""A mute of an alert that is closed, and whose recovery nobody has got yet: it is told when the mute ends, and not lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.alerts.ledger import update
from assay.commands.alerts import mute_alert
from assay.core.alert import Alert, AlertKind, Message, Waiting
from assay.stores.sql import SqlStore

NOW = datetime.now(UTC)


def _moment(hours: int) -> str:
    return (NOW + timedelta(hours=hours)).isoformat(timespec="seconds")


def _waiting(kind: AlertKind) -> tuple[Waiting, ...]:
    return (Waiting("mail", Message(kind, "subject", "text", "html"), _moment(-1)),)


@pytest.mark.parametrize(
    ("closed_at", "kind", "news"),
    [
        (_moment(-1), AlertKind.RECOVERY, [AlertKind.RECOVERY]),
        # Who never heard that it is wrong need not hear that it is well.
        (_moment(-1), AlertKind.BLOCK, []),
        ("", AlertKind.CHANGE, []),
    ],
    ids=["recovery waits", "nobody knew", "open"],
)
def test_a_recovery_that_waits_outlives_a_mute(
    tmp_path: Path, closed_at: str, kind: AlertKind, news: list[AlertKind]
) -> None:
    jobs = {} if closed_at else {"a|f|verify": 1}
    alert = Alert(
        *("7c1d90be", AlertKind.BLOCK, "nan", "headline", jobs, "r1", _moment(-9), "r1", _moment(-9)),
        told=("a|f|verify",),
        closed_at=closed_at,
        waiting=_waiting(kind),
    )
    store = SqlStore(str(tmp_path / "history.db"))
    store.change_alerts(lambda _alerts: [alert])
    store.close()
    muted = mute_alert("7c1d90be", NOW + timedelta(hours=12), "known", str(tmp_path))
    assert muted.waiting == ()
    assert update([muted], [], set(), "r2", _moment(6))[1] == [], "inside of the mute nothing is told"
    assert [piece.kind for piece in update([muted], [], set(), "r3", _moment(13))[1]] == news
