"""The plot of trends as coordinates; the template draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from assay.core.trend import Trend
from assay.reports import format as text

WIDE, HIGH, LEFT, BOTTOM, TOP = 960.0, 300.0, 64.0, 24.0, 18.0
STEPS = 4
FEW = 500
"""Points that have room beside one another: more share pixels, and what lies on the same one is drawn once."""

Spread = Mapping[str, Sequence[float]]
"""Values behind the points, by run."""


class Mark(msgspec.Struct, frozen=True):
    """A point that is named: an alarm, a change, or the newest."""

    x: float
    y: float
    run: str
    label: str


class Series(msgspec.Struct, frozen=True):
    """One line. `dots` and `spread` are SVG paths, `levels` lines (x1, x2, y)."""

    label: str
    dots: str
    spread: str
    levels: tuple[tuple[float, float, float], ...]
    alarms: tuple[Mark, ...]
    changes: tuple[Mark, ...]


class TrendPlot(msgspec.Struct, frozen=True):
    """`grid` are (y, value); `days` the first and the last, minutes where they are one day."""

    series: tuple[Series, ...]
    grid: tuple[tuple[float, str], ...]
    days: tuple[str, str]


@dataclass(frozen=True)
class _Axes:
    """Where runs and values lie. Of many runs whole pixels are enough."""

    places: Mapping[str, int]
    low: float
    high: float

    @property
    def are_many(self) -> bool:
        return len(self.places) > FEW

    def x(self, run: str) -> float:
        return self._rounded(LEFT + 8 + self.places[run] / max(1, len(self.places) - 1) * (WIDE - LEFT - 16))

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self._rounded(HIGH - BOTTOM - share * (HIGH - BOTTOM - TOP))

    def _rounded(self, at: float) -> float:
        return round(at) if self.are_many else round(at, 1)


def plot(trends: Sequence[Trend], labels: Sequence[str], spreads: Sequence[Spread]) -> TrendPlot:
    """Runs stand side by side, all at the same distance, in the order of their ids, which is that of time. `labels` and `spreads` are those
    of the trends, in their order."""
    axes = _axes(trends, spreads)
    grid = [axes.low + (axes.high - axes.low) * step / STEPS for step in range(STEPS + 1)]
    started = sorted(point.started_at for trend in trends for point in trend.points)
    return TrendPlot(
        tuple(_series(*each, axes) for each in zip(trends, labels, spreads, strict=True)),
        tuple((axes.y(value), text.number(value)) for value in grid),
        day_labels(started[0], started[-1]),
    )


def day_labels(first: str, last: str) -> tuple[str, str]:
    """The days, or the minutes of one day."""
    if first[:10] != last[:10]:
        return first[:10], last[:10]
    return first[:16].replace("T", " "), last[11:16] or last[:10]


def _axes(trends: Sequence[Trend], spreads: Sequence[Spread]) -> _Axes:
    places = {
        run: place for place, run in enumerate(sorted({point.run_id for trend in trends for point in trend.points}))
    }
    behind = [
        value
        for trend, spread in zip(trends, spreads, strict=True)
        for point in trend.points
        for value in spread.get(point.run_id, ())
    ]
    values = [point.value for trend in trends for point in trend.points]
    low, high = min((*values, *behind)), max((*values, *behind))
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return _Axes(places, max(0.0, low - room) if low >= 0 else low - room, high + room)


def _series(trend: Trend, label: str, spread: Spread, axes: _Axes) -> Series:
    points = trend.points
    across = [axes.x(point.run_id) for point in points]
    behind = (
        [(x, tuple(map(axes.y, spread.get(point.run_id, ())))) for x, point in zip(across, points, strict=True)]
        if spread
        else []
    )
    alarms = [points[at] for at in trend.alarms]
    changes = [(points[change.place].run_id, change.percent) for change in trend.changes]
    return Series(
        label,
        _dots((x, axes.y(point.value)) for x, point in zip(across, points, strict=True)),
        _spread(behind, as_lines=axes.are_many),
        _levels(trend, axes),
        tuple(Mark(axes.x(at.run_id), axes.y(at.value), at.run_id, f"alarm, {text.number(at.value)}") for at in alarms),
        tuple(Mark(axes.x(run), 0.0, run, f"{percent:+.1f} %") for run, percent in changes),
    )


def _levels(trend: Trend, axes: _Axes) -> tuple[tuple[float, float, float], ...]:
    """Between the changes; none where there is no change."""
    points = trend.points
    ends = [0, *(change.place for change in trend.changes), len(points)]
    heights = [trend.changes[0].before, *(change.after for change in trend.changes)] if trend.changes else []
    return tuple(
        (axes.x(points[first].run_id), axes.x(points[last - 1].run_id), axes.y(level))
        for first, last, level in zip(ends, ends[1:], heights, strict=False)
    )


def _dots(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(dict.fromkeys(f"M{x} {y}h0" for x, y in places))


def _spread(places: Sequence[tuple[float, tuple[float, ...]]], *, as_lines: bool) -> str:
    """A dot for each percentile; of many runs a line from the lowest to the highest that share a column."""
    if not as_lines:
        return _dots((x, y) for x, heights in places for y in heights)
    columns: dict[float, list[float]] = {}
    for x, heights in places:
        columns.setdefault(x, []).extend(heights)
    return " ".join(f"M{x} {min(heights)}V{max(heights)}" for x, heights in columns.items() if heights)
