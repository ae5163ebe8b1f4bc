"""The history of one metric of one cell on one kind of machine."""

from __future__ import annotations

import msgspec


class Point(msgspec.Struct, frozen=True):
    """One run. `value` in the metric's own unit."""

    run_id: str
    started_at: str
    commit: str
    value: float


class Change(msgspec.Struct, frozen=True):
    """The level changed at `place`: between the commits of the point before and of that point. `worse` by the metric's bad
    direction."""

    place: int
    before: float
    after: float
    percent: float
    worse: bool
    last_commit: str
    first_commit: str


class Trend(msgspec.Struct, frozen=True):
    """`alarms` are places in `points` at which the metric was surely worse than it had been."""

    case: str
    flow: str
    metric: str
    unit: str
    machine: str
    points: tuple[Point, ...]
    alarms: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    elsewhere: int = 0
