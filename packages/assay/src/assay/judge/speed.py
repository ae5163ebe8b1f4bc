"""What a comparison of two engines is worth under the policy's rule of speed: derived again from the recorded launches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from assay.core.policy import Goal, Policy
from assay.core.result import CompareSpeedResult, Result
from assay.core.result_parts import speeds_of
from assay.core.speed import TIME_LIMIT_MESSAGE, SpeedComparison, SpeedRule
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import DraftVerdict
from assay.judge.metric_registry import recorded_by
from assay.judge.operator_regressions import describe, differences, explained
from assay.judge.words.note_text import note_text
from assay.stats.against_stored import decide_against_stored
from assay.stats.sequential_test import Answer, answer_at, load_ratios, significantly_above
from assay.stats.summary import mean, median, sd

CHANGES_SHOWN = 5
OPERATORS_SHOWN = 3
SEVERITY = (VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE, VerdictStatus.PASS)

BASELINE_GOALS = (
    Goal("memory.load_added_bytes", percent_max_degradation=10.0, noise=2e6),
    Goal("memory.run_added_bytes", percent_max_degradation=10.0, noise=2e6),
    Goal("memory.growth_low_bytes", max_degradation=65536.0),
    Goal("artifact.bytes", percent_max_degradation=2.0),
)


@dataclass(frozen=True)
class SpeedDecision:
    """One comparison, judged: at one batch size."""

    word: VerdictStatus
    text: str
    metric: str = ""
    observed: float | None = None
    allowed: float | None = None


def with_baseline_goals(policy: Policy, *, measured: bool) -> Policy:
    """What is asked of a check beside its baseline, where the policy says nothing of that metric; of memory only where
    something is `measured`."""
    metrics = {goal.metric for goal in policy.goals}
    more = [
        goal
        for goal in BASELINE_GOALS
        if goal.metric not in metrics and (measured or recorded_by(goal.metric) != "measure")
    ]
    return replace(policy, goals=(*policy.goals, *more))


def judge_speed(opinion: DraftVerdict, policy: Policy) -> DraftVerdict:
    """Slower fails, the same or faster passes, anything else is inconclusive: never forced. Of several batch sizes the
    worst counts, and each is told."""
    result = opinion.result
    assert isinstance(result, CompareSpeedResult)
    speeds = result.speeds
    speed_decisions = [judge_comparison(speed, policy.speed) for speed in speeds]
    worst = min(speed_decisions, key=_worst_first)
    text = "; ".join(_of_batches(speeds, speed_decisions))
    why = f"; {_difference(result)}" if worst.word is VerdictStatus.FAIL else ""
    metric = worst.metric
    if len(speeds) > 1 and metric:
        metric = metric.replace("speed.", f"speed.batch{speeds[speed_decisions.index(worst)].batch}.")
    return replace(
        opinion,
        word=worst.word,
        reason=f"{text}{why}",
        metric=metric,
        observed=worst.observed,
        allowed=worst.allowed,
    )


def _of_batches(speeds: Sequence[SpeedComparison], decisions: Sequence[SpeedDecision]) -> list[str]:
    """The text of the worst, with its batch size where there are several, and of the others the word."""
    if len(speeds) == 1:
        return [decisions[0].text]
    ordered = sorted(zip(speeds, decisions, strict=True), key=lambda pair: _worst_first(pair[1]))
    (first, worst), *rest = ordered
    words = {
        VerdictStatus.FAIL: "slower",
        VerdictStatus.INCONCLUSIVE: "undecided",
        VerdictStatus.PASS: "the same or faster",
    }
    others = [
        f"{words[word]} at batch {', '.join(map(str, sorted(speed.batch for speed, decision in rest if decision.word is word)))}"
        for word in SEVERITY
        if any(speed_decision.word is word for _, speed_decision in rest)
    ]
    return [f"at batch {first.batch}: {worst.text}", *others]


def _worst_first(speed_decision: SpeedDecision) -> tuple[int, float]:
    """By the word, then by what is slower by more."""
    return SEVERITY.index(speed_decision.word), -(speed_decision.observed or 0.0)


def judge_comparison(comparison: SpeedComparison, rule: SpeedRule) -> SpeedDecision:
    """One comparison alone."""
    if comparison.trouble:
        return SpeedDecision(VerdictStatus.INCONCLUSIVE, f"not comparable: {note_text(comparison.trouble)}")
    if comparison.stored:
        return _against_stored(comparison, rule)
    answer = answer_at(comparison.launches, rule)
    limit = 100.0 * rule.min_slowdown
    observed = percent(answer.mean) if math.isfinite(answer.mean) else None
    figures = (
        f"{_percent(answer.mean)} {_clock(comparison)} against {comparison.rival} "
        f"({_interval(answer)}; {_times(comparison)}; {answer.launches} launches)"
    )
    loads = load_ratios(comparison.launches)
    load = percent(median(loads)) if significantly_above(loads, rule.load_min_slowdown, rule) else None
    also = f"; loads slower by {load:.0f} %, too" if load is not None else ""
    if answer.word == "slower":
        return SpeedDecision(VerdictStatus.FAIL, f"slower: {figures}{also}", "speed.slowdown_percent", observed, limit)
    if significantly_above(walls := [launch.wall for launch in comparison.launches], rule.wall_min_slowdown, rule):
        wall = percent(median(walls))
        text = f"slower by {wall:.0f} % on the wall clock, though not in {_clock(comparison)}: it waits (lost threads, locks, files)"
        return SpeedDecision(
            VerdictStatus.FAIL,
            f"{text}; {figures}{also}",
            "speed.wall_slowdown_percent",
            wall,
            100.0 * rule.wall_min_slowdown,
        )
    if load is not None:
        text = f"loads slower by {load:.0f} %; {answer.word}: {figures}"
        return SpeedDecision(
            VerdictStatus.FAIL, text, "speed.load_slowdown_percent", load, 100.0 * rule.load_min_slowdown
        )
    if answer.word in ("same", "faster"):
        return SpeedDecision(VerdictStatus.PASS, f"{answer.word}: {figures}", "speed.slowdown_percent", observed, limit)
    if comparison.out_of_time and not math.isfinite(answer.mean):
        figures = f"{len(comparison.launches)} launches against {comparison.rival} are too few"
    text = f"undecided: {figures}; {TIME_LIMIT_MESSAGE if comparison.out_of_time else _advice(comparison, answer)}"
    return SpeedDecision(VerdictStatus.INCONCLUSIVE, text, "speed.slowdown_percent", observed, limit)


def _against_stored(comparison: SpeedComparison, rule: SpeedRule) -> SpeedDecision:
    """The candidate's engines were compared with one another: all of them are its own."""
    now = [seconds for launch in comparison.launches for seconds in (launch.own_s, launch.rival_s)]
    answer = decide_against_stored(now, comparison.stored, rule)
    limit = 100.0 * rule.stored_min_slowdown
    figures = (
        f"{_percent(answer.mean)} {_clock(comparison)} against {comparison.rival} ({_interval(answer)}; "
        f"{1e3 * median(comparison.stored):.4g} -> {1e3 * median(now):.4g} ms a call; never measured side by side, "
        f"so no less than {limit:g} % counts)"
    )
    word = {"slower": VerdictStatus.FAIL, "inconclusive": VerdictStatus.INCONCLUSIVE}.get(
        answer.word, VerdictStatus.PASS
    )
    name = "undecided" if word is VerdictStatus.INCONCLUSIVE else answer.word
    observed = percent(answer.mean) if math.isfinite(answer.mean) else None
    return SpeedDecision(word, f"{name}: {figures}", "speed.slowdown_percent", observed, limit)


def _clock(comparison: SpeedComparison) -> str:
    return {"caller": "of the caller's time", "device": "of the device's time"}.get(comparison.clock, "CPU time")


def _advice(comparison: SpeedComparison, answer: Answer) -> str:
    """Why it could not be told, and what would decide it."""
    scatter = percent(sd([launch.cpu for launch in comparison.launches]))
    why = f"launches differ by {scatter:.1f} % (standard deviation): " if math.isfinite(scatter) else ""
    if answer.more is None:
        return f"{why}the machine is too restless, or the difference too near the limit, for more launches to decide"
    launches = "1 more launch" if answer.more == 1 else f"{answer.more} more launches"
    enough = f"about {launches} would probably decide (--launches {answer.launches + answer.more})"
    return f"{why}{enough}, or fewer with less other work on the machine"


def slowdowns(result: Result) -> list[float]:
    """In percent, at each batch size where the new engine was measured beside the old one."""
    speeds = speeds_of(result)
    return [
        percent(mean([launch.cpu for launch in speed.launches]))
        for speed in speeds
        if speed.launches and not speed.stored
    ]


def percent(logarithm: float) -> float:
    """How much more, in percent, for the logarithm of a ratio."""
    return 100.0 * math.expm1(logarithm)


def _percent(logarithm: float) -> str:
    return f"{percent(logarithm):+.1f} %"


def _interval(answer: Answer) -> str:
    if not math.isfinite(answer.low):
        return "no interval"
    if answer.word == "same":
        return f"surely at most {_percent(answer.most)}"
    return f"surely between {_percent(answer.low)} and {_percent(answer.high)}"


def _times(comparison: SpeedComparison) -> str:
    return f"{1e3 * comparison.rival_s:.4g} -> {1e3 * comparison.own_s:.4g} ms a call"


def _difference(result: CompareSpeedResult) -> str:
    """Which operators cost more, as the backends' profiles tell, and what changed in the engine."""
    dearer = [change for change in explained(result) if change.delta_s > 0.0][:OPERATORS_SHOWN]
    parts = [f"where, by the backend's profile: {', '.join(map(describe, dearer))}"] if dearer else []
    changes = list(differences(result.baseline_facts, result.facts))
    more = f" and {len(changes) - CHANGES_SHOWN} more" if len(changes) > CHANGES_SHOWN else ""
    if changes:
        parts.append(f"what changed in the engine: {', '.join(changes[:CHANGES_SHOWN])}{more}")
    return "; ".join(
        parts
        or [
            "both engines report the same operators in the same types and places (a branch that was not taken is not reported)"
        ]
    )
