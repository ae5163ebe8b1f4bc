"""Slower or not, from launches: one number for each fresh pair of engines, looked at after 4, 6, 8, 12, 16 and 20.

The variance of a benchmark lies between launches, not inside them: two sessions of one model differ by more than any
longer run of either can average out (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013). So a launch
gives one number, the logarithm of a ratio, and Student's t speaks about their mean. Looking several times is paid for by
Bonferroni: each look has its share of the chance of error (Jennison and Turnbull, Group Sequential Methods, 1999, ch. 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.core.duel import Launch, SpeedRule

Word = Literal["slower", "same", "faster", "inconclusive"]
MOST_LAUNCHES = 200
"""More is not proposed: what such a machine cannot decide then, it cannot decide."""


@dataclass(frozen=True)
class Answer:
    """`mean`, `low` and `high` are logarithms of candidate over rival, the interval at the level of a wrong "slower".
    `launches` were looked at; `more` would probably decide, 0 where it is decided, None where no number can be told."""

    word: Word
    mean: float
    low: float
    high: float
    launches: int
    more: int | None = 0


def decide(ratios: Sequence[float], rule: SpeedRule) -> Answer:
    """The answer of the first look that has one, else "inconclusive" after all of them: never forced.

    `ratios` in the order of the launches. The same launches under another rule may be judged again.
    """
    answer = Answer("inconclusive", math.nan, -math.inf, math.inf, len(ratios), None)
    for launches in rule.looks:
        if launches > len(ratios):
            break
        answer = _look(ratios[:launches], rule)
        if answer.word != "inconclusive":
            return answer
    return answer


def _look(ratios: Sequence[float], rule: SpeedRule) -> Answer:
    count, mean = len(ratios), math.fsum(ratios) / len(ratios)
    spread = max(math.sqrt(math.fsum((one - mean) ** 2 for one in ratios) / (count - 1)), rule.spread)
    error = spread / math.sqrt(count)
    sure = student(1.0 - rule.alpha / len(rule.looks), count - 1) * error
    same = student(1.0 - rule.beta / len(rule.looks), count - 1) * error
    word: Word = "inconclusive"
    if mean - sure > 0.0 and mean > math.log1p(rule.floor):
        word = "slower"
    elif mean + sure < 0.0 and mean < -math.log1p(rule.floor):
        word = "faster"
    elif mean + same < math.log1p(rule.margin) and (mean > -math.log1p(rule.margin) or count >= rule.looks[-1]):
        word = "same"  # or not slower, where it looks faster and there is no further look
    more = 0 if word != "inconclusive" else _more(mean, spread, count, rule)
    return Answer(word, mean, mean - sure, mean + sure, count, more)


def _more(mean: float, spread: float, count: int, rule: SpeedRule) -> int | None:
    """How many more launches would decide, if mean and spread stayed what they are."""
    for total in range(count + 1, MOST_LAUNCHES + 1):
        error = spread / math.sqrt(total)
        if mean > math.log1p(rule.floor) and mean - student(1 - rule.alpha / len(rule.looks), total - 1) * error > 0:
            return total - count
        if mean < -math.log1p(rule.margin):
            if mean + student(1 - rule.alpha / len(rule.looks), total - 1) * error < 0:
                return total - count
        elif mean + student(1 - rule.beta / len(rule.looks), total - 1) * error < math.log1p(rule.margin):
            return total - count
    return None


def student(share: float, freedom: float) -> float:
    """The quantile of Student's t."""
    # scipy.stats takes most of a second to import, in every worker.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


def surely_above(ratios: Sequence[float], floor: float, rule: SpeedRule) -> bool:
    """The coarse check of what is too restless for the fine one (wall clock, loading): over all launches surely above 0,
    and mean and median above `floor` (0.25 is 25 percent)."""
    if len(ratios) < rule.looks[0]:
        return False
    count, mean = len(ratios), math.fsum(ratios) / len(ratios)
    spread = max(math.sqrt(math.fsum((one - mean) ** 2 for one in ratios) / (count - 1)), rule.spread)
    middle = sorted(ratios)[count // 2]
    lower = mean - student(1.0 - rule.alpha, count - 1) * spread / math.sqrt(count)
    return lower > 0.0 and min(mean, middle) > math.log1p(floor)


def settled(launches: Sequence[Launch], rule: SpeedRule) -> bool:
    """Whether no more launches are needed: CPU time has its answer, and neither the wall clock nor loading looks slower
    than its floor without being surely so. What the rule says of CPU time is said by the first look that has an answer,
    however many launches were made for the others."""
    if decide([one.cpu for one in launches], rule).word == "inconclusive":
        return False
    coarse = ([one.wall for one in launches], rule.wall_floor), ([one.load for one in launches], rule.load_floor)
    return not any(
        sorted(ratios)[len(ratios) // 2] > math.log1p(floor) and not surely_above(ratios, floor, rule)
        for ratios, floor in coarse
    )
