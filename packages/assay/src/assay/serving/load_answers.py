"""What the answers of a load say: when the first token came, when the others, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import msgspec

from assay.endpoints.connection import without_key
from assay.endpoints.openai_answers import Choice, Usage
from assay.endpoints.readable import json_value
from assay.serving.framing import CHUNKED, INTERIM
from assay.serving.load_generator import Load, Sent

_SIZE = re.compile(rb"[0-9a-fA-F]+")
_DONE, _SHOWN = b"[DONE]", 100
_NO_TOKEN = "no token came"
Parts = Sequence[tuple[float, bytes]]
"""What came, and when."""


class _Event(msgspec.Struct):
    """What is read of an answer, or of an event of one."""

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None


_END = _Event()


@dataclass(frozen=True)
class Answer:
    """Seconds from when the request was due; `gaps_s` between tokens. `error` is "" for a good one; `text` is what it says."""

    late_s: float
    first_s: float
    whole_s: float
    tokens: int
    gaps_s: tuple[float, ...]
    error: str
    text: str = ""


def answers_of(load: Load) -> list[Answer]:
    """One for each request."""
    answers = [_answer(request) for request in load.requests]
    return [
        replace(answer, error=without_key(answer.error, load.key)[:_SHOWN]) if answer.error else answer
        for answer in answers
    ]


def _answer(sent: Sent) -> Answer:
    late = max(0.0, sent.sent - sent.due) if sent.sent >= 0 else 0.0
    if sent.error or sent.ended < 0:
        return Answer(late, -1.0, -1.0, 0, (), sent.error or "no answer")
    head, parts = _body(sent.parts)
    status = head[9:12].decode(errors="replace")
    if not status.startswith("2"):
        return Answer(late, -1.0, -1.0, 0, (), f"status {status}")
    whole = b"".join(data for _, data in parts)
    if b"text/event-stream" not in head.lower():
        event, after = _parsed(whole), sent.ended - sent.due
        text, tokens = _text_of(event), _usage(event)
        error = _error_of(event) or ("" if text or tokens else _NO_TOKEN)
        return Answer(late, after, after, tokens, (), error, text)
    events = _events(parts)
    error = next(filter(None, (_error_of(event) for _, event in events)), "")
    times = [at for at, event in events if _has_text(event)]
    if error or not any(event is _END for _, event in events):
        return Answer(late, -1.0, -1.0, len(times), (), error or "the stream was cut off")
    if not times:
        return Answer(late, -1.0, -1.0, 0, (), _NO_TOKEN)
    gaps = tuple(after - before for before, after in pairwise(times))
    text = "".join(_text_of(event) for _, event in events)
    return Answer(late, times[0] - sent.due, sent.ended - sent.due, len(times), gaps, "", text)


def _body(parts: Parts) -> tuple[bytes, list[tuple[float, bytes]]]:
    """The head behind all interim ones, and what the body says, its chunks joined (RFC 9112, 7.1): each byte when it came."""
    whole, at = b"".join(data for _, data in parts), 0
    while interim := INTERIM.match(whole, at):
        at = interim.end()
    head, _, rest = whole[at:].partition(b"\r\n\r\n")
    begin = len(whole) - len(rest)
    spans = _chunks(whole, begin) if CHUNKED.search(head) else [(begin, len(whole))]
    parts_read: list[tuple[float, bytes]] = []
    at = 0
    for when, data in parts:
        end = at + len(data)
        text = b"".join(whole[max(at, low) : min(end, high)] for low, high in spans if low < end and at < high)
        parts_read += [(when, text)] if text else []
        at = end
    return head, parts_read


def _chunks(whole: bytes, at: int) -> list[tuple[int, int]]:
    """Where the data of each chunk lies; up to the first that is none."""
    chunks: list[tuple[int, int]] = []
    while (line := whole.find(b"\r\n", at)) >= 0:
        size = whole[at:line].partition(b";")[0].strip()
        if _SIZE.fullmatch(size) is None or int(size, 16) == 0:
            break
        chunks.append((line + 2, min(len(whole), line + 2 + int(size, 16))))
        at = chunks[-1][1] + 2
    return chunks


def _events(parts: Parts) -> list[tuple[float, _Event]]:
    """What each event says, and when the last byte of its line came; up to the last one, behind which nobody reads."""
    events: list[tuple[float, _Event]] = []
    rest = b""
    for at, data in parts:
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and line[5:].strip():
                events.append((at, _parsed(line[5:])))
                if events[-1][1] is _END:
                    return events
    return events


def _parsed(text: bytes) -> _Event:
    if text.strip() == _DONE:
        return _END
    try:
        return msgspec.convert(json_value(text), _Event)
    except (ValueError, msgspec.ValidationError):
        return _Event(error="its answer cannot be read")


def _error_of(event: _Event) -> str:
    """The error that it tells; "" for none."""
    error = event.error
    if not error:
        return ""
    text = str(error.get("message") or error) if isinstance(error, dict) else str(error)
    return f"error: {' '.join(text.split())}"


def _has_text(event: _Event) -> bool:
    """Whether a token is in it: not the end, a role, a count, or no text."""
    return bool(_text_of(event))


def _text_of(event: _Event) -> str:
    return "".join(choice.said for choice in event.choices or ())


def _usage(event: _Event) -> int:
    return (event.usage or Usage()).completion_tokens or 0
