"""Latency and throughput against the batch size, and where a slower engine loses its time: the same rows for every report."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.result import CompareSpeedResult, Result
from assay.core.result_parts import measurements_of, speeds_of
from assay.core.speed import SpeedComparison
from assay.judge.operator_regressions import explained
from assay.judge.speed import percent
from assay.reports import format as text
from assay.reports.sanitize import one_line
from assay.stats.knee import knee
from assay.stats.percentiles import percentile
from assay.stats.summary import mean

Rows = list[list[str]]
MEASURED = ("batch", "latency", "p90", "throughput", "")
COMPARED = ("batch", "before", "after", "difference", "throughput", "")
LAUNCHES = ("batch", "launch", "difference", "on the wall clock", "in loading", "before", "after")
OPERATORS = ("difference", "operator", "name", "before", "after", "what changed")
OPERATORS_SHOWN = 10
KNEE = "knee"
KNEE_MEANS = "knee: the batch size of the greatest throughput for its latency"


def latencies(result: Result) -> dict[int, float]:
    """Wall seconds per call by batch size: medians of the measurements, or of a comparison's candidate."""
    if isinstance(result, CompareSpeedResult):
        return {speed.batch: speed.own_wall_s for speed in result.speeds if speed.launches and speed.own_wall_s > 0.0}
    seconds_by_batch = {
        measurement.batch: percentile(measurement.wall_s, 50.0)
        for measurement in measurements_of(result)
        if not measurement.layout
    }
    return {batch: seconds for batch, seconds in sorted(seconds_by_batch.items()) if seconds}


def sweep(result: Result) -> tuple[tuple[str, ...], Rows]:
    """Header and rows, one for each batch size; no rows where there are not several."""
    seconds = latencies(result)
    if len(seconds) < 2:
        return (), []
    best = knee(seconds)
    if isinstance(result, CompareSpeedResult):
        compared = {speed.batch: speed for speed in result.speeds}
        return COMPARED, [_compared_row(compared[batch], taken, best) for batch, taken in sorted(seconds.items())]
    slow = {
        measurement.batch: percentile(measurement.wall_s, 90.0)
        for measurement in measurements_of(result)
        if not measurement.layout
    }
    rows = [
        [str(batch), text.milliseconds(taken), text.milliseconds(slow[batch]), _rate(batch, taken), _mark(batch, best)]
        for batch, taken in seconds.items()
    ]
    return MEASURED, rows


def _compared_row(speed: SpeedComparison, taken: float, best: int | None) -> list[str]:
    return [
        str(speed.batch),
        text.milliseconds(speed.rival_wall_s),
        text.milliseconds(taken),
        _change(mean([launch.cpu for launch in speed.launches])),
        _rate(speed.batch, taken),
        _mark(speed.batch, best),
    ]


def _change(logarithm: float) -> str:
    return text.change(percent(logarithm))


def launches(result: Result) -> Rows:
    """Every launch of a comparison, as told by `LAUNCHES`: what its verdict is derived from. Of one that had no rival but stored
    samples they say nothing."""
    return [
        [
            str(speed.batch),
            str(number),
            *map(_change, (launch.cpu, launch.wall, launch.load)),
            text.milliseconds(launch.rival_s),
            text.milliseconds(launch.own_s),
        ]
        for speed in speeds_of(result)
        if not speed.stored
        for number, launch in enumerate(speed.launches, 1)
    ]


def _rate(batch: int, seconds: float) -> str:
    """Three digits, the rest zeros: rates of one table differ by powers of ten, and are read beside one another."""
    return f"{float(f'{batch / seconds:.3g}'):,.10g}/s"


def _mark(batch: int, best: int | None) -> str:
    return KNEE if batch == best else ""


def operators(result: Result) -> Rows:
    """Of a comparison whose two engines were profiled: the largest differences first, as told by `OPERATORS`."""
    return [
        [
            f"{1e3 * change.delta_s:+.3g} ms",
            change.operator,
            change.name,
            _side(change.before_s),
            _side(change.after_s),
            change.what,
        ]
        for change in (explained(result) if isinstance(result, CompareSpeedResult) else ())[:OPERATORS_SHOWN]
    ]


def _side(seconds: float | None) -> str:
    return "-" if seconds is None else text.milliseconds(seconds)


def curve(result: Result) -> dict[str, object] | None:
    """For the page's plot: [batch, milliseconds, items per second] of each size, `before` that of a comparison's rival, and the
    knee; None without a sweep."""
    seconds = latencies(result)
    if len(seconds) < 2:
        return None
    speeds = speeds_of(result)
    before = {
        speed.batch: speed.rival_wall_s for speed in speeds if speed.batch in seconds and speed.rival_wall_s > 0.0
    }
    return {"points": _points(seconds), "before": _points(before), "knee": knee(seconds)}


def _points(seconds: dict[int, float]) -> list[list[float]]:
    return [[batch, 1e3 * taken, batch / taken] for batch, taken in sorted(seconds.items())]


def columns(header: Sequence[str], rows: Rows) -> list[str]:
    """Lines of text in columns; untrusted names keep to their line."""
    table = [[one_line(cell) for cell in row] for row in (header, *rows)]
    wide = [max(len(row[place]) for row in table) for place in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip() for row in table]
