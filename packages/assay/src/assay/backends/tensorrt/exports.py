"""The other files of trtexec: `--exportTimes` (one row per query) and `--exportProfile` (one row per layer).

Their form is the same from 8.6 to 11.1. Milliseconds become seconds.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError


class Query(msgspec.Struct, frozen=True):
    """Seconds of one query: the copies to and from the device, the computing between, and all of it; and the host's share."""

    h2d_s: float
    compute_s: float
    d2h_s: float
    latency_s: float
    enqueue_s: float


class LayerTime(msgspec.Struct, frozen=True):
    """Seconds of one layer over all iterations; `share` is of the sum of all layers, 0 to 1."""

    name: str
    total_s: float
    mean_s: float
    median_s: float
    share: float


class Profile(msgspec.Struct, frozen=True):
    """`count` iterations were profiled."""

    count: int
    layers: tuple[LayerTime, ...]


def parse_times(text: str, source: str = "times") -> tuple[Query, ...]:
    """Raises UsageError with place and reason for anything that is no such file."""
    queries = []
    for number, row in enumerate(_rows(text, source, "--exportTimes")):
        value = _reader(row, source, number)
        queries.append(
            Query(
                value("h2dMs") / 1000,
                value("computeMs") / 1000,
                value("d2hMs") / 1000,
                value("latencyMs") / 1000,
                (value("endEnqMs") - value("startEnqMs")) / 1000,
            )
        )
    return tuple(queries)


def parse_profile(text: str, source: str = "profile") -> Profile:
    """Raises UsageError with place and reason for anything that is no such file."""
    rows = _rows(text, source, "--exportProfile")
    count = rows[0].get("count") if rows else None
    if not isinstance(count, int):
        raise UsageError(noted(BackendCode.EXPORT_DAMAGED, source=source, option="--exportProfile", lacking="count"))
    layers = []
    for number, row in enumerate(rows[1:], 1):
        value = _reader(row, source, number)
        layers.append(
            LayerTime(
                str(row.get("name", "")),
                value("timeMs") / 1000,
                value("averageMs") / 1000,
                value("medianMs") / 1000,
                value("percentage") / 100,
            )
        )
    return Profile(count, tuple(layers))


def _rows(text: str, source: str, option: str) -> list[dict[str, Any]]:
    try:
        rows: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(noted(BackendCode.EXPORT_NO_JSON, source=source, option=option, error=str(error))) from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UsageError(noted(BackendCode.EXPORT_NO_LIST, source=source, option=option))
    return rows


def _reader(row: dict[str, Any], source: str, number: int) -> Any:
    def value(name: str) -> float:
        entry = row.get(name)
        if isinstance(entry, bool) or not isinstance(entry, int | float) or not math.isfinite(entry):
            raise UsageError(noted(BackendCode.EXPORT_ENTRY, source=source, entry=number, name=name, value=repr(entry)))
        return float(entry)

    return value
