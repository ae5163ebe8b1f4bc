"""One metric of one cell on each kind of machine that ran it."""

from __future__ import annotations

import statistics

import msgspec

from assay.ports.browsing import MetricHistory

NEWEST = 10
"""Runs of a machine that its figure is of."""


class OnMachine(msgspec.Struct, frozen=True):
    """`median`, `least` and `most` are of the newest `runs` results; `times` is the median over that of the machine that is shown, None
    where that is 0 or has none."""

    machine: str
    runs: int
    newest_run: str
    median: float
    least: float
    most: float
    times: float | None = None


def machines(history: MetricHistory, shown: str) -> list[OnMachine]:
    """The machine `shown` first, the others by their newest run."""
    by_machine: dict[str, list[tuple[str, float]]] = {}
    for point in history.points:
        values = by_machine.setdefault(point.machine, [])
        if len(values) < NEWEST:
            values.append((point.run, point.value))
    rows = [_of(machine, values) for machine, values in by_machine.items()]
    own = next((row.median for row in rows if row.machine == shown), 0.0)
    rows = [msgspec.structs.replace(row, times=row.median / own if own else None) for row in rows]
    by_run = sorted(rows, key=lambda row: row.newest_run, reverse=True)
    return sorted(by_run, key=lambda row: row.machine != shown)


def _of(machine: str, values: list[tuple[str, float]]) -> OnMachine:
    numbers = [value for _, value in values]
    return OnMachine(machine, len(values), values[0][0], statistics.median(numbers), min(numbers), max(numbers))
