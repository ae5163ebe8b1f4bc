"""The three statistics: noise as declared passes, whatever its shape; what each of them is there for is seen by it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.tolerance.judge.statistics import ELEMENT_LIMIT, NORM_LIMIT, SLICE_LIMIT, statistics

D = 8


def _drawn(shape: tuple[int, ...], seed: int, level: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """An error, and its variance as estimated from 8 other draws."""
    random = np.random.default_rng(seed)
    draws = random.standard_normal((D, *shape)) * level
    return random.standard_normal(shape) * level, np.mean(draws**2, axis=0)


@pytest.mark.parametrize("shape", [(1,), (3,), (4, 16), (2, 3, 8, 8), (1000,)])
@pytest.mark.parametrize("seed", range(20))
def test_noise_as_large_as_derived_passes(shape: tuple[int, ...], seed: int) -> None:
    error, variance = _drawn(shape, seed)
    figures = statistics([error], [variance], [np.zeros(shape)], D)
    assert max(figures.budgets.values()) < 1.0, figures


def test_no_error_uses_nothing_even_where_nothing_is_allowed() -> None:
    zeros = np.zeros((2, 8))
    assert statistics([zeros], [zeros], [zeros], D).budgets["budget_used"] == 0.0


def test_any_error_is_infinite_where_nothing_is_allowed() -> None:
    zeros = np.zeros((2, 8))
    assert statistics([zeros + 1e-9], [zeros], [zeros], D).norm == np.inf


def test_one_wrong_element_among_many_is_found_by_the_element_alone() -> None:
    error, variance = _drawn((200, 50), 1)
    error[7, 3] = 40.0
    figures = statistics([error], [variance], [np.zeros_like(error)], D)
    assert figures.norm < NORM_LIMIT
    assert figures.element > ELEMENT_LIMIT
    assert figures.element_at == (0, 7, 3)


def test_one_stale_row_is_found_by_its_slice() -> None:
    error, variance = _drawn((200, 50), 2)
    error[11] *= 8.0
    figures = statistics([error], [variance], [np.zeros_like(error)], D)
    assert figures.norm < NORM_LIMIT
    assert figures.slice > SLICE_LIMIT
    assert figures.slice_at == (1, 11)


def test_an_element_without_variance_by_luck_does_not_raise_an_alarm() -> None:
    error, variance = _drawn((64, 64), 3)
    variance[5, 5] = 0.0
    figures = statistics([error], [variance], [np.zeros_like(error)], D)
    assert figures.element < ELEMENT_LIMIT


def test_samples_are_slices_and_may_have_shapes_of_their_own() -> None:
    pairs = [_drawn((size, 1), size) for size in (12, 27, 15)]
    errors, variances = [pair for pair, _ in pairs], [pair for _, pair in pairs]
    floors = [np.zeros_like(error) for error in errors]
    assert max(statistics(errors, variances, floors, D).budgets.values()) < 1.0
    errors[1] = errors[1] * 9.0
    figures = statistics(errors, variances, floors, D)
    assert figures.slice > SLICE_LIMIT
    assert figures.slice_at == (0, 1)
