"""What a duel of two engines is worth under the policy's rule of speed: derived anew from the recorded launches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from assay.core.duel import Duel, SpeedRule
from assay.core.policy import Goal, Policy
from assay.core.result import BuildFacts, Result
from assay.core.verdict import Word
from assay.judge.opinion import Opinion
from assay.stats.launches import Answer, decide, surely_above

CHANGES_SHOWN = 5


BASELINE_GOALS = (
    Goal("memory.load_peak_bytes", percent_max_degradation=10.0),
    Goal("memory.run_peak_bytes", percent_max_degradation=10.0),
    Goal("artifact.bytes", percent_max_degradation=2.0),
)


def with_baseline_goals(policy: Policy) -> Policy:
    """What is asked of a check beside its baseline, where the policy says nothing of that figure."""
    asked = {goal.figure for goal in policy.goals}
    return replace(policy, goals=(*policy.goals, *(goal for goal in BASELINE_GOALS if goal.figure not in asked)))


def judged(opinion: Opinion, policy: Policy) -> Opinion:
    """Slower fails, the same or faster passes, anything else is inconclusive: never forced."""
    result = opinion.result
    assert result is not None
    assert result.duel is not None
    seen = result.duel
    if seen.trouble:
        return replace(opinion, word=Word.INCONCLUSIVE, reason=f"not comparable: {seen.trouble}")
    answer = decide([one.cpu for one in seen.launches], policy.speed)
    word, text = _word(answer, seen, policy.speed)
    why = f"; {_difference(result)}" if answer.word == "slower" else ""
    return replace(
        opinion,
        word=word,
        reason=f"{text}{why}",
        figure="duel.slowdown_percent",
        observed=percent(answer.mean) if seen.launches else None,
        allowed=100.0 * policy.speed.floor,
    )


def _word(answer: Answer, seen: Duel, rule: SpeedRule) -> tuple[Word, str]:
    said = f"{_percent(answer.mean)} CPU time against {seen.rival} ({_interval(answer)}, {answer.launches} launches; {_times(seen)})"
    if answer.word == "slower":
        return Word.FAIL, f"slower: {said}"
    if surely_above([one.wall for one in seen.launches], rule.wall_floor, rule):
        wall = percent(sum(one.wall for one in seen.launches) / len(seen.launches))
        text = (
            f"slower by {wall:.0f} % on the wall clock, though not in CPU time: it waits (lost threads, locks, files)"
        )
        return Word.FAIL, f"{text}; {said}"
    if surely_above([one.load for one in seen.launches], rule.load_floor, rule):
        load = percent(sum(one.load for one in seen.launches) / len(seen.launches))
        return Word.FAIL, f"loads slower by {load:.0f} %; {answer.word}: {said}"
    if answer.word in ("same", "faster"):
        return Word.PASS, f"{answer.word}: {said}"
    return Word.INCONCLUSIVE, f"undecided: {said}; {_advice(answer)}"


def _advice(answer: Answer) -> str:
    if answer.more is None:
        return "the machine is too restless, or the difference too near the limit, for more launches to decide"
    return f"about {answer.more} more launches would probably decide (--launches {answer.launches + answer.more})"


def percent(logarithm: float) -> float:
    """How much more, in percent, for the logarithm of a ratio."""
    return 100.0 * math.expm1(logarithm)


def _percent(logarithm: float) -> str:
    return f"{percent(logarithm):+.1f} %"


def _interval(answer: Answer) -> str:
    if not math.isfinite(answer.low):
        return "no interval"
    return f"surely between {_percent(answer.low)} and {_percent(answer.high)}"


def _times(seen: Duel) -> str:
    return f"{1e3 * seen.own_s:.4g} ms, it {1e3 * seen.rival_s:.4g} ms a call"


def _difference(result: Result) -> str:
    changes = list(differences(result.rival_facts, result.facts))
    if not changes:
        return "both engines are made of the same operators in the same types and places"
    more = f" and {len(changes) - CHANGES_SHOWN} more" if len(changes) > CHANGES_SHOWN else ""
    return f"what changed in the engine: {', '.join(changes[:CHANGES_SHOWN])}{more}"


def differences(before: BuildFacts, after: BuildFacts) -> Iterator[str]:
    """Operators by kind, type and place that the two engines do not share, the largest change first; then options."""
    old, new = _operators(before), _operators(after)
    changed = {key: new[key] - old[key] for key in old.keys() | new.keys() if new[key] != old[key]}
    for key, count in sorted(changed.items(), key=lambda item: (-abs(item[1]), item[0])):
        yield f"{count:+d} {key}"
    for name in sorted(before.options.keys() & after.options.keys()):
        if before.options[name] != after.options[name]:
            yield f"{name} {before.options[name]} -> {after.options[name]}"
    if before.backend_version != after.backend_version:
        yield f"version {before.backend_version} -> {after.backend_version}"


def _operators(facts: BuildFacts) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in facts.placements:
        precision = f" {one.precision}" if one.precision else ""
        found[f"{one.operator}{precision} on {one.device}"] += one.count
    return found
