"""Online alarms on a history: Page's cumulative sum (Biometrika 41, 1954) of winsorised, robustly scaled logarithms.

Clipping at three standard deviations keeps one wild run from raising an alarm; the sum still sees a creep that no
comparison with yesterday does. One-sided: a rise of the values is what is looked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

ALLOWANCE = 1.0
LIMIT = 10.0
WINDOW = 40
FIRST = 12
"""Points since the last reset before anything is said."""
CLIP = 3.0
LEAST_POINTS = FIRST + math.floor(LIMIT / (CLIP - ALLOWANCE)) + 1
"""Before the last of these not even the wildest values raise an alarm."""
STEP_BACK = (3, 15)
"""After an alarm the history begins again where the sum last was zero, as Page locates the change: what lies behind is already
of the new level. So many points before the alarm at least, and at most: a creep has no one beginning."""
FIRST_AGAIN = 6
SCALED = 20
"""After an alarm it is looked on from fewer points, with the scale from before the alarm until there are so many: a step soon
after the alarm would else become part of the new reference, unseen."""
LEAST_SCALE = 0.003
NORMAL = 1.4826
"""A median absolute deviation times this estimates the standard deviation of a normal distribution."""


def alarms(values: Sequence[float]) -> list[int]:
    """Places in `values` (positive, in the order of time) at which an alarm is raised.

    The reference is the median of the first WINDOW points since the last reset, of all so far while they are fewer; the
    scale its median absolute deviation, at least LEAST_SCALE. After an alarm, points since the sum began to rise are not yet
    part of either: a new level would widen the scale that it is measured by, and pass unseen. A value that is not positive
    and finite is left out.
    """
    places = [place for place, value in enumerate(values) if math.isfinite(value) and value > 0.0]
    logs = [math.log(values[place]) for place in places]
    alarm_places: list[int] = []
    start, total, rose, at = 0, 0.0, 0, 0
    scale_before: float | None = None
    seen: tuple[int, int] | None = None
    middle = scale = 0.0
    while at < len(logs):
        if at - start >= (FIRST if scale_before is None else FIRST_AGAIN):
            until = _known_until(at, start, rose, total, again=scale_before is not None)
            stretch = (start, min(start + WINDOW, until))
            if stretch != seen:  # Once the window is full it is the same for every later point.
                seen = stretch
                middle, scale = _reference(logs[slice(*stretch)])
                if scale_before is not None and stretch[1] - stretch[0] < SCALED:
                    scale = scale_before
            surprise = min(max((logs[at] - middle) / scale, -CLIP), CLIP)
            total = max(0.0, total + surprise - ALLOWANCE)
            if total > LIMIT:
                alarm_places.append(places[at])
                least, most = (at - points for points in reversed(STEP_BACK))
                start, total, scale_before = max(start + 1, min(max(rose, least), most)), 0.0, scale
        if total == 0.0:
            rose = at + 1
        at += 1
    return alarm_places


def _reference(known: Sequence[float]) -> tuple[float, float]:
    middle = _median(known)
    return middle, max(NORMAL * _median([abs(value - middle) for value in known]), LEAST_SCALE)


def _known_until(at: int, start: int, rose: int, total: float, *, again: bool) -> int:
    """Where the points end that the one at `at` is compared with. Before the first alarm they are not few and may grow: a
    reference that was taken too low in its first points must not become an alarm of its own."""
    return max(rose, start + FIRST_AGAIN) if again and total > 0.0 else at


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2.0
