"""Slower or not, from launches: one number for each fresh pair of engines, looked at after 4, 6, 8, 12, 16 and 20.

The variance of a benchmark lies between launches, not inside them: two sessions of one model differ by more than any
longer run of either can average out (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013). So a launch
gives one number, the logarithm of a ratio, and Student's t speaks about their mean. Looking several times is paid for by
Bonferroni: each look has its share of the chance of error (Jennison and Turnbull, Group Sequential Methods, 1999, ch. 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.core.speed import PairedRun, SpeedRule, interim_looks
from assay.stats.t_quantile import t_quantile

SpeedAnswer = Literal["slower", "same", "faster", "inconclusive"]
LEAST_ORDERED = 8
"""From so many launches on, the effect of the order in which engines are loaded is told apart from restlessness."""
MOST_LAUNCHES = 200
"""More is not proposed: what such a machine cannot decide then, it cannot decide."""
PROBABLY = 0.8416
"""The quantile of the normal distribution at four of five."""


@dataclass(frozen=True)
class Answer:
    """`mean`, `low`, `high` and `most` are logarithms of candidate over rival: the interval at the level of a wrong "slower",
    and what it is at most at the level of a wrong "same". `launches` were looked at; `more` would probably decide, 0 where
    it is decided, None where no number can be told."""

    word: SpeedAnswer
    mean: float
    low: float
    high: float
    launches: int
    more: int | None = 0
    most: float = math.inf


def answer_at(launches: Sequence[PairedRun], rule: SpeedRule) -> Answer:
    """What the rule says of the launches' CPU time."""
    return decide([launch.cpu for launch in launches], rule, [launch.own_first for launch in launches])


def decide(ratios: Sequence[float], rule: SpeedRule, own_first: Sequence[bool | None] = ()) -> Answer:
    """The answer of the first look that has one, else "inconclusive" after all of them: never forced.

    `ratios` in the order of the launches, `own_first` of each whether the candidate was loaded first. The same launches
    under another rule may be judged again.
    """
    answer, spread, looked = Answer("inconclusive", math.nan, -math.inf, math.inf, len(ratios), None), math.nan, False
    for launches in rule.looks:
        if launches > len(ratios):
            break
        (answer, spread), looked = _look(ratios[:launches], rule, own_first[:launches]), True
        if answer.word != "inconclusive":
            return answer
    return replace(answer, more=_more(answer.mean, spread, answer.launches, rule)) if looked else answer


def _look(ratios: Sequence[float], rule: SpeedRule, own_first: Sequence[bool | None]) -> tuple[Answer, float]:
    """The answer, and by how much launches differ; whether more would decide is not asked. A ratio that is no finite number (one side
    did nothing at all) has no place in a mean: nothing is decided."""
    if not all(map(math.isfinite, ratios)):
        return Answer("inconclusive", math.nan, -math.inf, math.inf, len(ratios)), math.nan
    count, mean = len(ratios), math.fsum(ratios) / len(ratios)
    order, freedom = _of_order(ratios, own_first)
    rest = math.fsum((ratio - mean) ** 2 for ratio in ratios) - count * order**2
    spread = max(math.sqrt(max(rest, 0.0) / freedom), rule.spread)
    error = spread / math.sqrt(count)
    sure = t_quantile(1.0 - rule.alpha / len(rule.looks), freedom) * error
    same = t_quantile(1.0 - rule.beta / len(rule.looks), freedom) * error
    word: SpeedAnswer = "inconclusive"
    if mean - sure > 0.0 and mean > math.log1p(rule.min_slowdown):
        word = "slower"
    elif mean + sure < 0.0 and mean < -math.log1p(rule.min_slowdown):
        word = "faster"
    elif mean + same < math.log1p(rule.margin) and (mean > -math.log1p(rule.margin) or count >= rule.looks[-1]):
        word = "same"  # or not slower, where it looks faster and there is no further look
    return Answer(word, mean, mean - sure, mean + sure, count, most=mean + same), spread


def _of_order(ratios: Sequence[float], own_first: Sequence[bool | None]) -> tuple[float, int]:
    """What being loaded first does to a ratio, and the degrees of freedom that are left. Where as many launches had either
    order it does not move the mean, but it spreads the launches: of two engines of IREE at 30 ms the second was 5 percent
    slower. It costs one degree of freedom (two treatments in two orders: Jones and Kenward, Design and Analysis of
    Cross-Over Trials, 2014, ch. 2), which few launches cannot spare."""
    count = len(ratios)
    if count < LEAST_ORDERED or sum(first is True for first in own_first) * 2 != count or None in own_first:
        return 0.0, count - 1
    return math.fsum(
        ratio if first else -ratio for ratio, first in zip(ratios, own_first, strict=True)
    ) / count, count - 2


def _more(mean: float, spread: float, count: int, rule: SpeedRule) -> int | None:
    """How many more launches would decide in four cases of five, if they are spread as those that were seen: the mean of
    all may then differ from that of the first `count` by its share of both errors. A longer rule looks more often, and
    spends less of its chances at each look."""
    for total in range(count + 1, MOST_LAUNCHES + 1):
        shift = PROBABLY * spread * math.sqrt((total - count) / (total * count))
        error, times = spread / math.sqrt(total), len(interim_looks(total))
        sure = t_quantile(1.0 - rule.alpha / times, total - 1) * error + shift
        same = t_quantile(1.0 - rule.beta / times, total - 1) * error + shift
        if mean > math.log1p(rule.min_slowdown) + shift and mean > sure:
            return total - count
        if mean < -math.log1p(rule.margin) and mean + sure < 0.0:
            return total - count
        if mean >= -math.log1p(rule.margin) and mean + same < math.log1p(rule.margin):
            return total - count
    return None


def significantly_above(ratios: Sequence[float], floor: float, rule: SpeedRule) -> bool:
    """The coarse check of what is too restless for the fine one (wall clock, loading): over all launches surely above 0,
    and mean and median above `floor` (0.25 is 25 percent)."""
    if len(ratios) < rule.looks[0] or not all(map(math.isfinite, ratios)):
        return False
    count, mean = len(ratios), math.fsum(ratios) / len(ratios)
    spread = max(math.sqrt(math.fsum((ratio - mean) ** 2 for ratio in ratios) / (count - 1)), rule.spread)
    middle = sorted(ratios)[count // 2]
    lower = mean - t_quantile(1.0 - rule.alpha, count - 1) * spread / math.sqrt(count)
    return lower > 0.0 and min(mean, middle) > math.log1p(floor)


def load_ratios(launches: Sequence[PairedRun]) -> list[float]:
    """One for every two launches, which loaded in either order: the engine that is loaded first finds the caches full of the
    last launch's calls and takes half a millisecond longer, twice as long as the other where it is small."""
    return [(launch.load + other.load) / 2.0 for launch, other in zip(launches[::2], launches[1::2], strict=False)]


def is_decided(launches: Sequence[PairedRun], rule: SpeedRule) -> bool:
    """Whether no more launches are needed: CPU time has its answer, and neither the wall clock nor loading looks slower
    than its floor without being surely so. What the rule says of CPU time is said by the first look that has an answer,
    however many launches were made for the others."""
    if answer_at(launches, rule).word == "inconclusive":
        return False
    coarse = (
        ([launch.wall for launch in launches], rule.wall_min_slowdown),
        (load_ratios(launches), rule.load_min_slowdown),
    )
    return not any(
        sorted(ratios)[len(ratios) // 2] > math.log1p(floor) and not significantly_above(ratios, floor, rule)
        for ratios, floor in coarse
    )
