"""Percentiles where there are enough samples, and nowhere else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.percentiles import needed, percentile, supported

PUBLISHED = [(50.0, 5), (90.0, 44), (95.0, 90), (99.0, 459), (99.9, 4603)]


@pytest.mark.parametrize(("p", "samples"), PUBLISHED)
def test_the_published_sample_counts(p: float, samples: int) -> None:
    assert needed(p) == samples
    assert supported(p, samples)
    assert not supported(p, samples - 1)


def _none_lies_above(samples: int, p: float) -> float:
    return math.pow(p / 100, samples)


@settings(deadline=None)
@given(st.floats(51.0, 99.95))
def test_needed_is_the_smallest_count_by_the_binomial(p: float) -> None:
    n = needed(p)
    assert _none_lies_above(n, p) <= 0.01 + 1e-12
    assert n == 5 or _none_lies_above(n - 1, p) > 0.01 - 1e-12


def test_a_low_percentile_needs_as_many_as_its_mirror_image() -> None:
    assert needed(1.0) == needed(99.0)


@pytest.mark.parametrize("p", [0.0, 100.0, -1.0, 101.0, math.nan])
def test_no_percentile_outside_of_the_samples(p: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 100"):
        needed(p)


def test_too_few_samples_give_none_not_a_guess() -> None:
    assert percentile([1.0] * 458, 99) is None
    assert percentile([1.0] * 459, 99) == 1.0
    assert percentile([1.0] * 4, 50) is None


def test_a_nan_among_the_samples_is_not_sorted_away() -> None:
    assert math.isnan(percentile([1.0, 2.0, math.nan, 4.0, 5.0], 50) or 0.0)


@pytest.mark.heavy
@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=90, max_size=120), st.sampled_from([50.0, 90.0, 95.0, 10.0]))
def test_the_value_is_that_of_numpy(samples: list[float], p: float) -> None:
    value = percentile(samples, p)
    assert value is not None
    assert value == pytest.approx(float(np.percentile(samples, p)), rel=1e-9, abs=1e-9)
    assert min(samples) <= value <= max(samples)
