"""Settings of a service that are varied: each combination is started, loaded with the same requests, and compared with the first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import product

from msgspec.structs import replace

from assay.core.service import Service
from assay.errors import UsageError
from assay.serving.rising_load import Curve

DIFFER = "answers_differ"
MOST = 64
"""Combinations of one sweep."""


def combinations(texts: Sequence[str]) -> list[dict[str, str]]:
    """Of `batch=1,4,8` and others like it, the first of each name first. Raises UsageError."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        some = [part for part in listed.split(",") if part]
        if not name.isidentifier() or not some or name in values:
            raise UsageError(
                f"--vary {text!r} is not NAME=VALUE,VALUE with a name of its own; write for example batch=1,4,8"
            )
        values[name] = some
    combined = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    if len(combined) > MOST:
        raise UsageError(f"--vary asks for {len(combined)} combinations, and {MOST} is the most; leave some values out")
    return combined


def with_values(service: Service, values: dict[str, str]) -> Service:
    """The service whose command has the values in place of `{batch}`. Raises UsageError where it has no place for one."""
    start = service.start
    for name, value in values.items():
        if f"{{{name}}}" not in start:
            raise UsageError(
                f"--vary {name}: start of [service.{service.name}] has no {{{name}}}; write it where the value belongs"
            )
        start = start.replace(f"{{{name}}}", value)
    return replace(service, start=start)


def label(values: dict[str, str]) -> str:
    """`batch=4 delay=0`."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def with_differing(curve: Curve, first: Curve) -> Curve:
    """With the share of requests that both answered whose texts differ from those at the same rate of the first combination."""
    texts = {rate: point.texts for rate, point in first.points}
    points = [
        (rate, dataclasses.replace(point, metrics=point.metrics | _differing(texts.get(rate, ()), point.texts)))
        for rate, point in curve.points
    ]
    return dataclasses.replace(curve, points=tuple(points))


def _differing(first: Sequence[str | None], other: Sequence[str | None]) -> dict[str, float]:
    both = [(left, right) for left, right in zip(first, other, strict=False) if left is not None and right is not None]
    return {DIFFER: sum(left != right for left, right in both) / len(both)} if both else {}
