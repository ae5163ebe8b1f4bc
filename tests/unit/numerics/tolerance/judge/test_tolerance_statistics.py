"""The three statistics: noise as declared passes, whatever its shape; what each of them is there for is seen by it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.tolerance.judge.slices import SLICE_LIMIT
from assay.numerics.tolerance.judge.statistics import ELEMENT_LIMIT, NORM_LIMIT, statistics

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


def _of_all_orders(
    shape: tuple[int, ...], seed: int, octaves: float = 60.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Levels without a gap, as those of probabilities are; an error, and its variance as estimated."""
    levels = np.exp2(np.random.default_rng(seed + 1000).uniform(-octaves, 0, shape))
    error, variance = _drawn(shape, seed)
    return levels, error * levels, variance * levels**2


@pytest.mark.parametrize("shape", [(4, 16), (4, 500), (3000,), (8, 8, 64)])
@pytest.mark.parametrize("seed", range(20))
def test_noise_of_all_orders_passes(shape: tuple[int, ...], seed: int) -> None:
    _, error, variance = _of_all_orders(shape, seed)
    assert max(statistics([error], [variance], [np.zeros(shape)], D).budgets.values()) < 0.9


@pytest.mark.parametrize("at", [0.02, 0.3, 0.6, 0.95])
def test_a_quiet_element_that_is_wrong_is_seen_among_louder_ones(at: float) -> None:
    levels, error, variance = _of_all_orders((4, 500), 4)
    place = np.unravel_index(np.argsort(levels, axis=None)[int(at * levels.size)], levels.shape)
    error[place] = 2.0**18 * levels[place]
    figures = statistics([error], [variance], [np.zeros_like(error)], D)
    assert figures.element > ELEMENT_LIMIT
    assert figures.element_at == (0, *place)


def test_what_has_no_noise_in_any_draw_may_be_off_as_the_loudest() -> None:
    """A value that was clipped each time, and in an engine is not."""
    _, error, variance = _of_all_orders((4, 500), 5)
    variance[1, 7], error[1, 7] = 0.0, 1e-3
    assert max(statistics([error], [variance], [np.zeros_like(error)], D).budgets.values()) < 1.0


def test_where_values_jump_noise_of_all_orders_is_judged_together() -> None:
    levels, error, variance = _of_all_orders((4, 500), 6)
    quiet = np.unravel_index(np.argsort(levels, axis=None)[100], levels.shape)
    error[quiet] = 2.0**-20
    none = np.zeros_like(error)
    assert statistics([error], [variance], [none], D).budgets["budget_used"] > 1.0
    assert statistics([error], [variance], [none], D, jumps=[(none, none)]).budgets["budget_used"] < 1.0
    assert statistics([error], [variance], [none], D, smooth=False).budgets["budget_used"] < 1.0


def test_beside_a_gap_noise_of_all_orders_is_judged_by_bands_as_well() -> None:
    """Probabilities, a few of which were masked."""
    levels, error, variance = _of_all_orders((4, 500), 7, octaves=30.0)
    levels[:, :15], error[:, :15], variance[:, :15] = 2.0**-60, error[:, :15] * 2.0**-60, variance[:, :15] * 2.0**-120
    none = np.zeros_like(error)
    right = statistics([error], [variance], [none], D)
    wrong = np.where((levels < 2.0**-22) & (levels > 2.0**-40), 2.0**10 * levels, error)
    assert right.budgets["budget_used"] < 0.9
    assert statistics([wrong], [variance], [none], D).budgets["budget_used"] > 1.0


def test_what_is_told_of_noise_is_of_all_and_what_is_allowed_is_of_the_worst() -> None:
    _, error, variance = _of_all_orders((4, 500), 8)
    figures = statistics([error], [variance], [np.zeros_like(error)], D)
    assert figures.noise == pytest.approx(np.sqrt(variance.mean()), rel=0.05)
    assert abs(error[figures.element_at[1:]]) < figures.allowed <= figures.most
