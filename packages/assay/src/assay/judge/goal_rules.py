"""The arithmetic of one goal: a metric against a limit, or against the same metric of a baseline.

The grammar is the one users know from Olive and model_analyzer: max, min, max-degradation, percent-max-degradation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.core.comparison import Direction, StatedMetric
from assay.core.policy import ABSOLUTE, LIMITS, Goal
from assay.core.verdict import VerdictStatus
from assay.errors import BadPolicy
from assay.judge.draft_verdict import Violation, quantity
from assay.judge.expectations import matches
from assay.judge.metric_registry import AGAINST_FLOAT, direction


def needs_baseline(goal: Goal) -> bool:
    """Whether the goal is relative. Raises BadPolicy unless the goal has exactly one limit."""
    limits = [*goal.limits]
    if len(limits) != 1:
        raise BadPolicy(
            f"the goal over '{goal.metric}' has {len(limits)} limits: give exactly one of {', '.join(LIMITS)}"
        )
    return limits[0] not in ABSOLUTE


def limit_of(goal: Goal) -> tuple[str, float]:
    """The sign and the number of a goal that is absolute."""
    if goal.min is not None:
        return ">=", goal.min
    if goal.max is not None:
        return "<=", goal.max
    return "==", goal.equal if goal.equal is not None else float("nan")


def limits_loss(goal: Goal, case: str, flow: str) -> bool:
    """Whether the goal says how far the answers of that case and flow may be from those of the float model. A relative one does not:
    the baseline may have lost as much."""
    is_of_it = goal.metric.startswith(AGAINST_FLOAT) and matches(case, goal.case) and matches(flow, goal.flow)
    return is_of_it and any(limit in ABSOLUTE for limit in goal.limits)


def absolute(goal: Goal, observed: float, stated: Mapping[str, StatedMetric] = {}) -> Violation | None:
    """`stated` is what plug-ins say of their metrics. None where `observed` keeps the goal's max, min or equal. NaN keeps nothing."""
    if goal.max is not None and not observed <= goal.max:
        return _beyond(goal, observed, goal.max, ABSOLUTE["max"], "bring it down", stated)
    if goal.min is not None and not observed >= goal.min:
        return _beyond(goal, observed, goal.min, ABSOLUTE["min"], "bring it up", stated)
    if goal.equal is not None and observed != goal.equal:
        return _beyond(goal, observed, goal.equal, ABSOLUTE["equal"], "bring it there", stated)
    return None


def relative(
    goal: Goal, observed: float, base: float, whose: str, stated: Mapping[str, StatedMetric] = {}
) -> Violation | None:
    """None where `observed` is not further on the bad side of `base` than the goal allows. `whose` names the baseline.

    What is not worse by more than the goal's `noise` is kept in any case. The percentage is of |base|. Of a base of 0 any
    worsening is infinitely many percent; a base that is not a number proves nothing.
    """
    name = goal.metric
    if math.isnan(base):
        text = f"{name} of {whose} is not a number: approve another baseline, or judge by max or min"
        return Violation(VerdictStatus.INCONCLUSIVE, text, name, observed)
    worse = _worsening(direction(name, stated), observed, base)
    if worse <= goal.noise and not math.isnan(worse):
        return None
    if goal.max_degradation is not None:
        limit, kept, step = goal.max_degradation, worse <= goal.max_degradation, goal.max_degradation
        allowed_text = f"{quantity(name, limit, stated)} worse"
        by = quantity(name, worse, stated)
    else:
        assert goal.percent_max_degradation is not None
        limit, step = goal.percent_max_degradation, goal.percent_max_degradation / 100.0 * abs(base)
        kept = worse <= step if math.isfinite(base) else worse <= 0.0
        allowed_text = f"{limit:.4g} % worse"
        by = f"{100.0 * worse / abs(base):.4g} %" if base and math.isfinite(base) else "infinitely many %"
    if kept:
        return None
    reading = "" if math.isnan(worse) else f", {by} worse"
    zero = "; of a baseline of 0 only max-degradation can allow anything" if base == 0 and ("%" in allowed_text) else ""
    text = (
        f"{name} is {quantity(name, observed, stated)} where {whose} has {quantity(name, base, stated)}{reading}, "
        f"allowed is {allowed_text}{zero}; find what changed, or allow more in {goal.place}"
    )
    return Violation(VerdictStatus.FAIL, text, name, observed, _edge(direction(name, stated), base, step))


def _worsening(bad: Direction, observed: float, base: float) -> float:
    """How much further on the bad side; 0 where equal, infinities included."""
    if observed == base:
        return 0.0
    if bad == "both":
        return abs(observed - 1.0) - abs(base - 1.0)
    return observed - base if bad == "up" else base - observed


def _edge(bad: Direction, base: float, step: float) -> float | None:
    """The last value that would have been accepted; None where there are two."""
    if bad == "both":
        return None
    return base + step if bad == "up" else base - step


def _beyond(
    goal: Goal, observed: float, limit: float, allowed: str, action: str, stated: Mapping[str, StatedMetric]
) -> Violation:
    text = (
        f"{goal.metric} is {quantity(goal.metric, observed, stated)}, allowed is {allowed} {quantity(goal.metric, limit, stated)}; "
        f"{action}, or change the limit in {goal.place}"
    )
    return Violation(VerdictStatus.FAIL, text, goal.metric, observed, limit)
