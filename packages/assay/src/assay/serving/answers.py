"""What the answers of a load say: when the first token came, when the others, and what went wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.serving.generator import Load, Sent


@dataclass(frozen=True)
class Answer:
    """Seconds from when the request was due; `gaps_s` between tokens. `error` is "" for a good one."""

    late_s: float
    first_s: float
    whole_s: float
    tokens: int
    gaps_s: tuple[float, ...]
    error: str


def answers_of(load: Load) -> list[Answer]:
    """One for each request."""
    return [_answer(one) for one in load.requests]


def _answer(sent: Sent) -> Answer:
    late = max(0.0, sent.sent - sent.due) if sent.sent >= 0 else 0.0
    if sent.error or sent.ended < 0:
        return Answer(late, -1.0, -1.0, 0, (), sent.error or "no answer")
    whole = b"".join(part for _, part in sent.parts)
    status = whole[9:12].decode(errors="replace")
    if not status.startswith("2"):
        return Answer(late, -1.0, -1.0, 0, (), f"status {status}")
    if b"text/event-stream" not in whole.partition(b"\r\n\r\n")[0].lower():
        return Answer(late, sent.ended - sent.due, sent.ended - sent.due, _usage(whole), (), "")
    times = _events(sent.parts)
    if b"data: [DONE]" not in whole:
        return Answer(late, -1.0, -1.0, len(times), (), "the stream was cut off")
    if not times:
        return Answer(late, -1.0, -1.0, 0, (), "no token came")
    gaps = tuple(after - before for before, after in pairwise(times))
    return Answer(late, times[0] - sent.due, sent.ended - sent.due, len(times), gaps, "")


def _events(parts: Sequence[tuple[float, bytes]]) -> list[float]:
    """When each event with text came: when the last byte of its line did."""
    times: list[float] = []
    rest = b""
    for at, data in parts:
        *lines, rest = (rest + data).split(b"\n")
        times += [at for line in lines if line.startswith(b"data:") and _has_text(line)]
    return times


def _has_text(line: bytes) -> bool:
    """Whether a token is in it: not the end, a role or a count."""
    if b"[DONE]" in line:
        return False
    try:
        choices = json.loads(line[5:]).get("choices") or ()
    except (ValueError, AttributeError):
        return False
    return any("text" in one or (one.get("delta") or {}).get("content") for one in choices)


def _usage(whole: bytes) -> int:
    try:
        body = json.loads(whole.partition(b"\r\n\r\n")[2])
        return int(body["usage"]["completion_tokens"])
    except (ValueError, KeyError, TypeError):
        return 0
