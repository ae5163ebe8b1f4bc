"""Whether one backend's error grew: less than wrong, more than noise.

Between two runs of the same backend on the same question the error hardly moves, however small it is beside what is allowed:
above twice its former value and above 1.5 noise widths it was changed by something. Between different backends the same
comparison means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.numerics.tolerance.judge.slices import SLICE_LIMIT
from assay.numerics.tolerance.judge.statistics import ELEMENT_LIMIT, NORM_LIMIT

GROWTH = 2.0
WIDTHS = 1.5
_LIMITS = {"budget_norm": NORM_LIMIT, "budget_element": ELEMENT_LIMIT, "budget_slice": SLICE_LIMIT}


def increased(old: Mapping[str, float], new: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """(former, present) statistic in noise widths, by metric, for those that grew. Metrics that either side lacks are left out."""
    grown = {}
    for name, limit in _LIMITS.items():
        if name in old and name in new:
            before, now = old[name] * limit, new[name] * limit
            if now > GROWTH * before and now > WIDTHS:
                grown[name] = (before, now)
    return grown
