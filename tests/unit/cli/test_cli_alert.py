"""`assay alert`, as it is typed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.core.alert import Alert, AlertKind
from assay.stores.sql import SqlStore

ALERT = Alert("a1b2c3d4", AlertKind.BLOCK, "s", "net on ov: mismatch", {"net|ov|verify": 1}, "r1", "t", "r1", "t")


@pytest.mark.parametrize("hours", [None, 0, 5, -8])
def test_a_mute_ends_at_the_time_of_the_zone_that_is_written(
    hours: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one it is UTC, as the help says."""
    (tmp_path / "h").mkdir()
    store = SqlStore(str(tmp_path / "h" / "history.db"))
    store.change_alerts(lambda _: [ALERT])
    store.close()
    end = (datetime.now(UTC) + timedelta(days=2)).replace(microsecond=0)
    zone = UTC if hours is None else timezone(timedelta(hours=hours))
    written = end.astimezone(zone).isoformat() if hours is not None else end.replace(tzinfo=None).isoformat()
    words = ["alert", "mute", "a1", "--until", written, "--reason", "known", "--history", str(tmp_path / "h")]
    with pytest.raises(SystemExit, match=r"^0$"):
        main(words)
    assert f"muted until {end:%Y-%m-%dT%H:%M} UTC: net on ov: mismatch" in capsys.readouterr().out
