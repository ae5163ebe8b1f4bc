"""Metrics of a load by name, the intervals that they have, and which limits these leave open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from assay.core.job import LoadJob
from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.policy import Goal
from assay.core.result import LoadResult, Result
from assay.core.speed import SpeedRule
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import DraftVerdict, Violation, quantity
from assay.judge.service_speed import judged_comparison, slowdowns
from assay.stats.slope import slope

_PREFIX = "load."
_SKIPPED = 4
"""The first of so many parts of the readings is left out: caches fill, and pages are touched for the first time."""
_READINGS = 240
"""Of memory, that a slope is fitted to: it looks at all pairs."""
RESIDENT_BLUR_BYTES = 2**19
"""As `assay.judge.named_metrics` has it."""
_HOUR_S, _FEWEST_S, _TELLING_PERCENT = 3600.0, 2.0, 100.0


def load_metrics(result: LoadResult) -> dict[str, float]:
    """`load.rate20.ttft_p50_ms` for each rate, those of the lowest rate besides without it, and the knee."""
    named: dict[str, float] = {}
    if result.against is not None:
        named |= {f"{_PREFIX}{name}": value for name, value in slowdowns(result.against).items()}
    for number, point in enumerate(result.points):
        for name, value in (point.metrics | growth(point.resident)).items():
            if number == 0:
                named[_PREFIX + name] = value
            if point.rate:
                named[f"{_PREFIX}rate{point.rate:g}.{name}"] = value
    return named | ({"load.knee_per_s": result.knee} if result.knee else {})


def growth(resident: Sequence[tuple[float, int]]) -> dict[str, float]:
    """Of readings (seconds, bytes): the peak, and the growth in percent of the mean an hour, with both ends of its interval (99 %), each
    further out by what a reading is blurred over the time that there was. No growth where too few readings were taken, or where the blur
    alone might be more than all of it in an hour, and nothing surely grows: the time was too short to tell."""
    readings = resident[len(resident) // _SKIPPED :]
    readings = readings[:: max(1, len(readings) // _READINGS)]
    peak = {"memory_peak_bytes": float(max(size for _, size in resident))} if resident else {}
    growth_slope = slope([second / _HOUR_S for second, _ in readings], [size for _, size in readings])
    if growth_slope is None:
        return peak
    percent = 100.0 * len(readings) / sum(size for _, size in readings)
    blur = RESIDENT_BLUR_BYTES / ((readings[-1][0] - readings[0][0]) / _HOUR_S)
    low = max(0.0, percent * (growth_slope.low - blur))
    if percent * blur > _TELLING_PERCENT and not low:
        return peak
    return peak | {
        "memory_growth_percent": percent * growth_slope.value + 0.0,  # never -0
        "memory_growth_low_percent": low,
        "memory_growth_high_percent": percent * (growth_slope.high + blur),
    }


def telling_s(resident: Sequence[tuple[float, int]]) -> float:
    """How long a load must be at least, so that `growth` can tell of a service of this size."""
    mean = sum(size for _, size in resident) / len(resident)
    blurred_s = _HOUR_S * 100.0 * RESIDENT_BLUR_BYTES / (_TELLING_PERCENT * mean)
    return max(_FEWEST_S, blurred_s * _SKIPPED / (_SKIPPED - 1))


def judged_load(blank: DraftVerdict, result: LoadResult, job: Job | None) -> DraftVerdict:
    """By itself, before any limit: a service that answered too little fails, and figures that prove nothing are inconclusive. Beside an
    older service the rule of the job decides."""
    if result.against is not None:
        rule = job.rule if isinstance(job, LoadJob) else None
        word, reasons = judged_comparison(result.against, rule or SpeedRule())
        return replace(blank, word=word, reason="; ".join([result.detail, *reasons] if result.detail else reasons))
    words = {Outcome.OK: VerdictStatus.PASS, Outcome.MISTRUSTED: VerdictStatus.INCONCLUSIVE}
    rates = ", ".join(f"{point.rate:g}" for point in result.points if point.rate)
    return replace(
        blank,
        word=words.get(result.outcome, VerdictStatus.FAIL),
        reason=result.detail or (f"loaded with {rates} requests a second" if rates else f"read from {result.source}"),
    )


def _limit(goal: Goal) -> str:
    """As a sentence names it: its number, or where it is written."""
    for sign, number in (("<=", goal.max), (">=", goal.min)):
        if number is not None:
            return f"{sign} {quantity(goal.metric, number)}"
    return f"the limit in {goal.place}"


@dataclass(frozen=True)
class _Interval:
    low: float
    high: float


def _interval(result: Result | None, metric: str) -> _Interval | None:
    """At 95 %, of a percentile."""
    if not isinstance(result, LoadResult) or not metric.startswith(_PREFIX):
        return None
    at, _, name = metric.removeprefix(_PREFIX).rpartition(".")
    for point in result.points:
        if at in ("", f"rate{point.rate:g}"):
            interval = point.intervals.get(name)
            return _Interval(*interval) if interval is not None else None
    return None


def undecided(
    goal: Goal, result: Result | None, observed: float, judged: Callable[[float], Violation | None]
) -> Violation | None:
    """What `judged` says of the figure, where its whole interval says the same: a limit inside of it is inconclusive."""
    between = _interval(result, goal.metric)
    complaint = judged(observed)
    if isinstance(result, LoadResult) and result.outcome is Outcome.MISTRUSTED:
        return None  # it is inconclusive by itself
    if between is None:
        return complaint
    ends = [judged(between.low), judged(between.high)]
    if all(end is None for end in ends) or all(end is not None for end in ends):
        return complaint
    shown = " to ".join(quantity(goal.metric, value) for value in (between.low, between.high))
    text = f"{goal.metric} is {quantity(goal.metric, observed)} ({shown}), too few to decide {_limit(goal)}: measure longer"
    return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric, observed)
