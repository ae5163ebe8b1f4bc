"""Slower, same, faster or undecided: the frozen rule on numbers, and its errors on drawn ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.speed import SpeedRule, interim_looks
from assay.stats.sequential_test import MOST_LAUNCHES, decide, significantly_above

RULE = SpeedRule()


def _around(mean: float, spread: float, count: int = 20) -> list[float]:
    half = [mean + spread, mean - spread]
    return half * (count // 2)


@pytest.mark.parametrize(
    ("ratios", "word", "launches"),
    [
        (_around(0.0, 0.001), "same", 4),
        (_around(0.05, 0.001), "slower", 4),
        (_around(-0.05, 0.001), "faster", 4),
        # Surely above zero, but below the smallest slowdown that counts, one percent: ignored.
        (_around(0.005, 0.0005), "same", 4),
        # Between floor and margin, surely above zero: slower.
        (_around(0.018, 0.005), "slower", 8),
        (_around(0.0, 0.2), "inconclusive", 20),
        ([0.0, 0.0, 0.0], "inconclusive", 3),
        ([], "inconclusive", 0),
        # One side did nothing at all: no mean is made of that.
        ([math.inf, -math.inf] * 10, "inconclusive", 20),
        ([math.inf] * 20, "inconclusive", 20),
        # What was decided before stays so.
        ([*_around(0.05, 0.001, 4), math.inf, -math.inf], "slower", 4),
    ],
)
def test_words(ratios: list[float], word: str, launches: int) -> None:
    answer = decide(ratios, RULE)
    assert (answer.word, answer.launches) == (word, launches)


def test_nothing_is_surely_slower_by_ratios_that_are_no_numbers() -> None:
    assert not significantly_above([math.inf, -math.inf, 1.0, 1.0], 0.25, RULE)


def test_equal_values_are_luck_and_not_certainty() -> None:
    """Four equal launches do not make a standard deviation of zero."""
    answer = decide([0.018] * 4, RULE)
    assert answer.word == "inconclusive"
    assert answer.high - answer.low > 0.01


def test_the_interval_is_that_of_student() -> None:
    from scipy.stats import sem, t

    ratios = [0.04, 0.05, 0.06, 0.05]
    answer = decide(ratios, RULE)
    low, _ = t.interval(1 - 2 * RULE.alpha / 6, 3, np.mean(ratios), sem(ratios))
    assert answer.low == pytest.approx(low)


def test_more_launches_are_proposed_where_they_would_help() -> None:
    answer = decide(_around(0.02, 0.02), RULE)
    assert answer.word == "inconclusive"
    assert answer.more is not None
    longer = SpeedRule(looks=(*RULE.looks, 20 + answer.more))
    assert decide(_around(0.02, 0.02, 2 * (20 + answer.more)), longer).word == "slower"
    assert decide(_around(0.02, 1.0), RULE).more is None


@pytest.mark.parametrize("ratio", [math.inf, -math.inf, math.nan])
def test_launches_that_are_no_numbers_are_not_called_decided(ratio: float) -> None:
    answer = decide([ratio] * 20, RULE)
    assert (answer.word, answer.launches, answer.more) == ("inconclusive", 20, None)


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.045), (0.02, 0.03), (0.01, 0.02)])
def test_as_many_launches_as_are_proposed_decide_most_comparisons(mean: float, spread: float) -> None:
    rng = np.random.default_rng(20261123)
    decided = []
    while len(decided) < 100:
        ratios = [float(number) for number in rng.normal(mean, spread, MOST_LAUNCHES)]
        answer = decide(ratios[:20], RULE)
        if answer.word == "inconclusive" and answer.more is not None:
            total = 20 + answer.more
            decided.append(decide(ratios[:total], SpeedRule(looks=interim_looks(total))).word != "inconclusive")
    assert sum(decided) >= 75


def test_what_the_same_engine_is_at_most_is_told_beside_the_interval() -> None:
    answer = decide(_around(0.0, 0.01), RULE)
    assert answer.word == "same"
    assert answer.mean < answer.most < math.log1p(RULE.margin) < answer.high


@pytest.mark.parametrize(("shift", "word", "share"), [(0.0, "same", 0.97), (math.log(1.05), "slower", 0.999)])
def test_errors_over_many_draws(shift: float, word: str, share: float) -> None:
    """Launches spread by one percent, as measured on shared machines."""
    rng = np.random.default_rng(7)
    words = [decide(list(shift + 0.01 * rng.standard_normal(20)), RULE).word for _ in range(1500)]
    assert words.count(word) / len(words) >= share
    wrong = "slower" if word == "same" else "same"
    assert words.count(wrong) <= 3


ORDERS = [True, False, False, True] * 5


def _second_is_slower(effect: float, shift: float, seed: int) -> list[float]:
    """The candidate takes longer by `effect` where it was loaded second, less by as much where first."""
    noise = 0.005 * np.random.default_rng(seed).standard_normal(20)
    return [shift + (-effect if first else effect) + number for first, number in zip(ORDERS, noise, strict=True)]


def test_the_order_of_loading_spreads_launches_and_does_not_blur_the_answer() -> None:
    alike, slower = _second_is_slower(0.05, 0.0, 1), _second_is_slower(0.05, 0.04, 2)
    assert decide(alike, RULE).word == decide(slower, RULE).word == "inconclusive"
    assert (decide(alike, RULE, ORDERS).word, decide(alike, RULE, ORDERS).launches) == ("same", 8)
    assert (decide(slower, RULE, ORDERS).word, decide(slower, RULE, ORDERS).launches) == ("slower", 8)


@pytest.mark.parametrize("orders", [[None] * 20, [True] * 20, [True] * 12 + [False] * 8, []])
def test_an_order_that_is_unknown_or_out_of_balance_explains_nothing(orders: list[bool | None]) -> None:
    ratios = _second_is_slower(0.05, 0.0, 1)
    assert decide(ratios, SpeedRule(looks=(20,)), orders) == decide(ratios, SpeedRule(looks=(20,)))


def test_errors_over_many_draws_with_an_effect_of_order() -> None:
    words = [decide(_second_is_slower(0.05, 0.0, seed), RULE, ORDERS).word for seed in range(1500)]
    assert words.count("same") / len(words) >= 0.97
    assert words.count("slower") <= 3


def test_the_wall_clock_has_a_coarse_limit_of_its_own() -> None:
    assert significantly_above(_around(math.log(2.0), 0.1), RULE.wall_min_slowdown, RULE)
    assert not significantly_above(_around(math.log(1.1), 0.02), RULE.wall_min_slowdown, RULE)
    assert not significantly_above(_around(math.log(2.0), 2.5), RULE.wall_min_slowdown, RULE)
    assert not significantly_above([1.0], RULE.wall_min_slowdown, RULE)
    one_stall = [0.0] * 19 + [20.0]
    assert not significantly_above(one_stall, RULE.wall_min_slowdown, RULE)


def test_what_looks_faster_is_looked_at_again_before_it_is_called_the_same() -> None:
    rule = SpeedRule()
    restless = [-0.6, -0.75, -0.5, -0.9]
    answer = decide(restless, rule)
    assert (answer.word, answer.more is not None and answer.more > 0) == ("inconclusive", True)
    assert decide([*restless, -0.7, -0.6], rule).word == "faster"
    # A little faster, and not surely so: the same.
    assert decide([-0.013, -0.0137, -0.0206, -0.0193], rule).word == "same"
    # It never gets sure: after the last look it is at least not slower.
    assert decide([-0.05, -0.6] * 10, rule).word in ("same", "faster")
