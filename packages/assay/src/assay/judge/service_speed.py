"""Which of two services is slower, from their restarts: derived from what was recorded, by the rule that was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.core.load import ServiceComparison
from assay.core.speed import SpeedRule
from assay.core.verdict import VerdictStatus
from assay.stats.proportion import more_failures_by_chance
from assay.stats.sequential_test import Answer, SpeedAnswer, decide

METRICS = ("ttft_p50", "ttft_mean", "itl_p50", "e2e_p50", "goodput")
"""What the rule decides of. A p99 of a block is its largest sample: it is shown, and decides nothing."""
_ALARM = 1e-3
"""Chance of a false word on failed requests."""
WORDS = {"slower": VerdictStatus.FAIL, "inconclusive": VerdictStatus.INCONCLUSIVE}
"""Of a comparison; any other passes."""


def decided(ratios: Sequence[dict[str, float]], firsts: Sequence[bool], rule: SpeedRule) -> dict[str, Answer]:
    """Each metric has its share of the chance of error: a false alarm of any of them is one of all. `ratios` are logarithms of new over
    old, of each restart of both, `firsts` whether the new one was started first."""
    names = [name for name in METRICS if ratios and all(name in ratio for ratio in ratios)]
    if not names:
        return {}
    shared = replace(rule, alpha=rule.alpha / len(names))
    return {name: decide([ratio[name] for ratio in ratios], shared, firsts) for name in names}


def word_is_final(answers: Mapping[str, Answer]) -> bool:
    """Whether further restarts cannot change the word of the whole: each figure keeps the first answer that it has (`decide`)."""
    words = [answer.word for answer in answers.values()]
    return bool(words) and ("slower" in words or "inconclusive" not in words)


def answers_of(comparison: ServiceComparison, rule: SpeedRule) -> dict[str, Answer]:
    """Of the pairs that count."""
    good = [pair for pair in comparison.pairs if pair.counts]
    return decided(
        [service_pair.ratios for service_pair in good], [service_pair.new_first for service_pair in good], rule
    )


def word_of(words: Sequence[SpeedAnswer], failed: tuple[int, int], sent: int) -> SpeedAnswer:
    """Slower where any metric surely is, or more requests fail; the same, or faster, where all are decided."""
    if "slower" in words or _more_fail(failed, sent):
        return "slower"
    if not words or "inconclusive" in words or failed[1] > failed[0]:
        return "inconclusive"
    return "faster" if "faster" in words else "same"


def _more_fail(failed: tuple[int, int], sent: int) -> bool:
    """Whether the new one surely fails more often."""
    return failed[1] > failed[0] and more_failures_by_chance(*failed, sent) < _ALARM


def judged_comparison(comparison: ServiceComparison, rule: SpeedRule) -> tuple[VerdictStatus, list[str]]:
    """The word, and a sentence for the whole and for each figure. A new service that ended, or answers too little, fails, however fast;
    not where the old one does, too."""
    answers = answers_of(comparison, rule)
    word = word_of([metric_answer.word for metric_answer in answers.values()], comparison.failed, comparison.sent)
    reasons = [_of_the_whole(comparison, word)]
    if any(comparison.failed):
        reasons.append(
            f"failed requests: {comparison.failed[0]} of the old, {comparison.failed[1]} of the new, of {comparison.sent} each"
        )
    for name, answer in answers.items():
        percent = 100 * math.expm1(answer.mean)
        low, high = (100 * math.expm1(bound) for bound in (answer.low, answer.high))
        between = f"{comparison.old[name]:.4g} -> {comparison.new[name]:.4g}"
        reasons.append(f"{name}: {answer.word}, {percent:+.1f} % ({low:+.1f} to {high:+.1f}); {between}")
    if comparison.old_ended or comparison.new_ended:
        return VerdictStatus.INCONCLUSIVE if comparison.old_ended else VerdictStatus.FAIL, reasons
    return WORDS.get(word, VerdictStatus.PASS), reasons


def _of_the_whole(comparison: ServiceComparison, word: SpeedAnswer) -> str:
    restarts = f"{len(comparison.pairs)} restarts of both"
    if comparison.old_ended or comparison.new_ended:
        which = (
            "both"
            if comparison.old_ended and comparison.new_ended
            else "the old one"
            if comparison.old_ended
            else "the new one"
        )
        return f"not compared with {comparison.old_name}: {which} ended, or answered too little, after {restarts}"
    if word == "same":
        return f"as fast as {comparison.old_name}, {restarts}"
    return f"{word} {'beside' if word == 'inconclusive' else 'than'} {comparison.old_name}, {restarts}"


def slowdowns(comparison: ServiceComparison) -> dict[str, float]:
    """In percent, means over the restarts that count; goodput: how much less."""
    good = [pair for pair in comparison.pairs if pair.counts]
    names = [name for name in METRICS if good and all(name in service_pair.ratios for service_pair in good)]
    return {
        f"slowdown.{name}_percent": 100
        * math.expm1(math.fsum(service_pair.ratios[name] for service_pair in good) / len(good))
        for name in names
    } | {"slowdown.restarts": float(len(good))}
