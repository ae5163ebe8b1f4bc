"""A profile that has durations and no clock, as a timeline: operators lie one behind another, in the order in which they ran."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

Timed = tuple[str, float, dict[str, str]]
"""A name, its seconds, and what else is known of it."""


def write_timeline(path: Path, calls: Iterable[Iterable[Timed]]) -> None:
    """Chrome's trace format: an event for each call, and those of its operators below it. In whole nanoseconds, which is what Perfetto
    rounds to: of fractions, events that touch would overlap by one, and it drops what overlaps without lying inside."""
    events: list[dict[str, object]] = []
    now_ns = 0
    for number, operators in enumerate(calls, start=1):
        begin_ns, inside = now_ns, []
        for name, seconds, more in operators:
            long_ns = round(1e9 * seconds)
            inside.append(_event(name, now_ns, long_ns, more))
            now_ns += long_ns
        events += [_event(f"call {number}", begin_ns, now_ns - begin_ns, {}), *inside]
    path.write_bytes(msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}))


def _event(name: str, begin_ns: int, long_ns: int, more: dict[str, str]) -> dict[str, object]:
    return {"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": begin_ns / 1000, "dur": long_ns / 1000, "args": more}
