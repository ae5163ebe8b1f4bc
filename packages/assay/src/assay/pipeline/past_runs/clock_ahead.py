"""A history that several machines write is in the order of what they say of the time. One whose clock is ahead stands in front of the
others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from assay.ports import RunSummary

TOLERATED = timedelta(minutes=5)
"""Clocks differ by seconds."""


def clock_ahead(newest: RunSummary | None, now: datetime) -> str:
    """What is to be said of the newest run where it has not begun yet by this machine's clock; "" where all is well."""
    if newest is None:
        return ""
    try:
        began = datetime.fromisoformat(newest.started_at)
    except ValueError:
        return ""
    began = began if began.tzinfo else began.replace(tzinfo=UTC)
    if began - now < TOLERATED:
        return ""
    ahead = str(timedelta(seconds=round((began - now).total_seconds())))
    return (
        f"the newest run of the history, {newest.id}, is ahead of this machine's clock by {ahead}: one of the two clocks is wrong, and its "
        "results stand as the present until then"
    )
