"""Latency against load: the same requests at rising rates, and the rate beyond which waiting grows faster than what is served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.serving.load_summary import LoadSummary


@dataclass(frozen=True)
class Curve:
    """`points` by the rate that was asked for. `knee` is the rate of the greatest power, throughput over latency (Kleinrock, ICC 1979);
    None where it is the largest that was measured: then it lies beyond. `skipped` are rates beyond one at which more than half
    failed, or the service was gone."""

    points: tuple[tuple[float, LoadSummary], ...]
    knee: float | None
    skipped: tuple[float, ...] = ()


def curve(rates: Sequence[float], load: Callable[[float], LoadSummary]) -> Curve:
    """From the lowest rate on. It ends where more than half of the requests fail, or the service is gone."""
    points: list[tuple[float, LoadSummary]] = []
    for rate in sorted(rates):
        summary = load(rate)
        points.append((rate, summary))
        if summary.ended or 2 * summary.metrics["errors"] > summary.metrics["requests"]:
            break
    answered = [(rate, point.metrics) for rate, point in points if point.metrics.get("e2e_mean_ms")]
    power = [(metrics["throughput_per_s"] / metrics["e2e_mean_ms"], rate) for rate, metrics in answered]
    best = max(power)[1] if len(power) >= 3 else None
    skipped = tuple(sorted(rates)[len(points) :])
    return Curve(tuple(points), None if not power or best == power[-1][1] else best, skipped)
