"""What a profile in Chrome's trace format must be for a viewer to show all of it.

Written after what Perfetto's trace processor does (52.0): a time below zero is dropped, and so is an event that overlaps another of its
thread without lying inside it; an end without a beginning is passed over, and what has no end lasts as long as the trace.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

ROUNDED_NS = 1000
"""What two events may overlap by: profilers that count whole microseconds cut off both ends."""

Track = tuple[object, object]


def what_is_not_shown(text: bytes, overlap_ns: int = ROUNDED_NS) -> str:
    """The first such event of a file that `what_is_wrong` takes, in a few words; "" where all are shown."""
    read = json.loads(text)
    tracks: dict[Track, list[Mapping[str, Any]]] = defaultdict(list)
    for event in read["traceEvents"] if isinstance(read, dict) else read:
        if event["ph"] not in "XBE":
            continue
        for field in ("pid", "tid"):
            if not isinstance(event.get(field), int | str):
                return f"{event.get('name')!r} has no {field}"
        if event["ts"] < 0:
            return f"{event.get('name')!r} begins at {event['ts']}"
        tracks[event["pid"], event["tid"]].append(event)
    return next((wrong for track in tracks.values() if (wrong := _unpaired(track) or _crossing(track, overlap_ns))), "")


def _unpaired(track: Iterable[Mapping[str, Any]]) -> str:
    opened: list[Mapping[str, Any]] = []
    for event in sorted((event for event in track if event["ph"] in "BE"), key=lambda event: float(event["ts"])):
        if event["ph"] == "B":
            opened.append(event)
        elif not opened:
            return f"{event.get('name')!r} ends at {event['ts']} and does not begin"
        else:
            opened.pop()
    return f"{opened[-1].get('name')!r} begins at {opened[-1]['ts']} and does not end" if opened else ""


def _crossing(track: Iterable[Mapping[str, Any]], overlap_ns: int) -> str:
    """Of two that begin together the longer one is outside."""
    spans = sorted(
        (round(1000 * event["ts"]), -round(1000 * event["dur"]), str(event.get("name")))
        for event in track
        if event["ph"] == "X"
    )
    outside: list[tuple[int, str]] = []
    for begin, minus, name in spans:
        while outside and outside[-1][0] <= begin + overlap_ns:
            outside.pop()
        if outside and begin - minus > outside[-1][0] + overlap_ns:
            return f"{name!r} begins in {outside[-1][1]!r} and ends after it"
        outside.append((begin - minus, name))
    return ""
