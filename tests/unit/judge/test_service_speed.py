"""A comparison that ends early ends with the word that all restarts together would have given."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from assay.core.speed import SpeedRule, interim_looks
from assay.judge.service_speed import METRICS, decided, word_is_final, word_of

RULE = SpeedRule(min_slowdown=0.05, margin=0.1, looks=interim_looks(20))
FIRSTS = [at % 2 == 0 for at in range(RULE.looks[-1])]
SPREADS = st.sampled_from([0.005, 0.05, 0.3])
Rows = list[dict[str, float]]


def _word(rows: Rows) -> str:
    return word_of([answer.word for answer in decided(rows, FIRSTS[: len(rows)], RULE).values()], (0, 0), 1)


@st.composite
def restarts(draw: st.DrawFn) -> Rows:
    """Each figure with a mean and a spread of its own."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    shapes = {name: (draw(st.floats(-0.2, 0.2)), draw(SPREADS)) for name in METRICS}
    return [{name: chance.gauss(*shape) for name, shape in shapes.items()} for _ in FIRSTS]


@given(restarts())
def test_the_word_of_a_comparison_that_ends_early_is_that_of_all_restarts(rows: Rows) -> None:
    early = [look for look in RULE.looks if word_is_final(decided(rows[:look], FIRSTS[:look], RULE))]
    assert all(_word(rows[:look]) == _word(rows) for look in early)


def test_one_figure_that_is_slower_settles_it_and_one_that_is_the_same_does_not() -> None:
    still = 0.001
    rows = [{"ttft_p50": 0.2 + still * first, "goodput": (-1.0) ** first} for first in FIRSTS]
    assert word_is_final(decided(rows[:4], FIRSTS[:4], RULE))
    assert _word(rows[:4]) == "slower"
    same = [row | {"ttft_p50": 0.0} for row in rows]
    assert not word_is_final(decided(same[:4], FIRSTS[:4], RULE))
    assert not word_is_final({})
