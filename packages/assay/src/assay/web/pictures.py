"""Plots as points of SVG paths: a template draws them, so that every text in them is escaped as any other."""

from __future__ import annotations

import math
from typing import Any

WIDE, HIGH = 360.0, 120.0
SAMPLES_WIDE, SAMPLES_HIGH = 720.0, 160.0
DIGIT_WIDE = 6.1
"""Of the counts over the bars, at 10 px."""


def bars(histogram: dict[str, Any]) -> dict[str, Any]:
    """A histogram, one bar for each bin: rectangles (x, y, width, height, edges, count, what stands over it). Heights grow with the
    logarithm of the count: one bad element among a million is to be seen. Over a bar stands its count, where all of them have room."""
    counts, edges = histogram["counts"], histogram["edges"]
    most = max(counts, default=0) or 1
    step = WIDE / max(1, len(counts))
    has_room = len(str(most)) * DIGIT_WIDE <= step
    drawn = []
    for place, count in enumerate(counts):
        height = math.log1p(count) / math.log1p(most) * (HIGH - 30)
        between = f"{edges[place]} to {edges[place + 1]}" if place + 1 < len(edges) else f"from {edges[place]}"
        drawn.append(
            (
                round(place * step + 1, 1),
                round(HIGH - 14 - height, 1),
                round(step - 2, 1),
                round(height, 1),
                between,
                count,
                str(count) if count and has_room else "",
            )
        )
    return {"bars": drawn, "wide": WIDE, "high": HIGH, "first": edges[0], "last": edges[-1], "total": sum(counts)}


def strip(taken: dict[str, Any]) -> dict[str, Any]:
    """Samples in the order taken, as one path of dots, with a line for the median and for the 90th percentile."""
    scale = taken["scale"]
    count = max(1, taken["count"] - 1)

    def y(milliseconds: float) -> float:
        low, high, at = float(scale["low"]), float(scale["high"]), milliseconds
        if scale["log"]:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(at, 1e-12))
        return round(SAMPLES_HIGH - 10 - (at - low) / ((high - low) or 1.0) * (SAMPLES_HIGH - 20), 1)

    dots = " ".join(
        f"M{round(number / count * (SAMPLES_WIDE - 12) + 6, 1)} {y(value)}h0" for number, value in taken["points"]
    )
    lines = [(name, y(value), text) for name, value, text in taken["lines"]]
    return {"dots": dots, "lines": lines, "wide": SAMPLES_WIDE, "high": SAMPLES_HIGH, "count": taken["count"]}
