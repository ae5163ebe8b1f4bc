"""The plain metrics of samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.summary import mean, median, sd, throughput

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


@settings(deadline=None)
@given(SAMPLES)
def test_middle_and_spread_are_those_of_numpy(samples: list[float]) -> None:
    assert median(samples) == pytest.approx(float(np.median(samples)))
    assert mean(samples) == pytest.approx(float(np.mean(samples)), abs=1e-6)
    assert sd(samples) == pytest.approx(float(np.std(samples, ddof=1)), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("metric", [median, mean, sd])
def test_nothing_in_and_nan_in_give_nan(metric: object) -> None:
    assert callable(metric)
    assert math.isnan(metric([]))
    assert math.isnan(metric([1.0, math.nan, 2.0]))


def test_throughput_is_the_batch_over_the_median() -> None:
    assert throughput(8, [0.5, 0.25, 4.0]) == 16.0
    assert math.isnan(throughput(8, [0.0, 0.0]))
    assert math.isnan(throughput(8, []))
