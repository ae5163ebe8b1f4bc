"""Hours in which nobody is to be woken."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from assay.core.alert import AlertRules


def quiet_until(rules: AlertRules, now: datetime) -> str:
    """The time of day at which quiet hours end, "" outside of them. `now` has a time zone."""
    if rules.quiet_hours is None:
        return ""
    local = now.astimezone(ZoneInfo(rules.time_zone)) if rules.time_zone else now.astimezone()
    minute = local.hour * 60 + local.minute
    start, end = rules.quiet_hours
    quiet = start <= minute < end if start < end else minute >= start or minute < end
    return f"{end // 60:02d}:{end % 60:02d}" if quiet else ""
