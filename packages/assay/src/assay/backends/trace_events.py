"""A profile that has durations and no clock, as a timeline: operators lie one behind another, in the order in which they ran."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

Timed = tuple[str, float, dict[str, str]]
"""A name, its seconds, and what else is known of it."""


def write_timeline(path: Path, calls: Iterable[Iterable[Timed]]) -> None:
    """Chrome's trace format: an event for each call, and those of its operators below it."""
    events: list[dict[str, object]] = []
    now = 0.0
    for number, operators in enumerate(calls, start=1):
        begin = now
        for name, seconds, more in operators:
            events.append(_event(name, now, seconds, more))
            now += seconds
        events.append(_event(f"call {number}", begin, now - begin, {}))
    path.write_bytes(msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}))


def _event(name: str, begin_s: float, seconds: float, more: dict[str, str]) -> dict[str, object]:
    micro = 1e6
    return {"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": micro * begin_s, "dur": micro * seconds, "args": more}
