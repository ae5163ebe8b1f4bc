"""Whether a row says the same in company as alone."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.tolerance.simulate.sample_batching import same

PLAIN = np.linspace(-2.0, 3.0, 48)
MASKED = np.where(np.arange(48) % 3 == 0, -1e30, PLAIN)


@pytest.mark.parametrize("value", [PLAIN, MASKED, np.exp(40 * PLAIN), np.zeros(8)])
def test_the_order_of_sums_is_no_difference(value: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    assert same({"y": value * (1 + 1e-13) + np.abs(value).min() * 1e-14}, {"y": value})


@pytest.mark.parametrize("value", [PLAIN, MASKED])
def test_another_answer_is_seen_beside_a_mask(value: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    assert not same({"y": np.where(value > -1e29, value * 1.1, value)}, {"y": value})


def test_sums_that_cancel_differ_by_what_their_terms_are_rounded_to() -> None:
    assert same({"y": np.array([1.0, 1e-17, 0.5])}, {"y": np.array([1.0, 0.0, 0.5])})
