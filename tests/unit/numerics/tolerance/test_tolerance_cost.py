"""What a derivation costs, and how many samples that leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_graphs import network, noise

from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derived_tolerance import DRAWS
from assay.numerics.tolerance.deriving import FEWER, MANY, Deriving
from assay.numerics.tolerance.rules import derivation_cost
from assay.numerics.tolerance.rules.derivation_cost import A_NUMBER, MOST, affordable, cost_of
from assay.numerics.tolerance.rules.squares import LARGE, sum_of_squares
from assay.numerics.tolerance.simulate.monte_carlo import BYTES_A_PLACE


@pytest.mark.parametrize(("each", "samples"), [(0, 4), (MOST // 4, 4), (MOST // 4 + 1, 3), (MOST, 1), (100 * MOST, 1)])
def test_samples_are_derived_as_far_as_the_cost_allows_and_the_first_in_any_case(each: int, samples: int) -> None:
    assert affordable(each, 4) == samples


def test_values_on_a_grid_cost_twice_as_much() -> None:
    assert affordable(MOST // 4, 4) == 4
    assert affordable(MOST // 4, 4, rounds=True) == 2


def test_a_sample_costs_its_products_and_its_numbers() -> None:
    model, feeds = network()
    deriving = Deriving(model, arithmetic_of("float32"), 0)
    (sample,) = deriving.samples([feeds])
    products = 4 * 64 * 32 + 4 * 8 * 64  # x (4, 32) by weights of 32 x 64 and 64 x 8
    assert (sample.cost - products) % A_NUMBER == 0
    assert sample.cost - products == A_NUMBER * sample.recorded_bytes // BYTES_A_PLACE > 0
    assert cost_of(products, 0) == products


def test_where_few_of_many_samples_are_derived_they_have_the_draws_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = network()
    inputs = [{"x": noise(4, 32, seed=seed)} for seed in range(MANY)]
    deriving = Deriving(model, arithmetic_of("float32"), 0)
    assert deriving.profile(deriving.samples(inputs), "float32").header.draws == FEWER
    monkeypatch.setattr(derivation_cost, "MOST", 1)
    header = deriving.profile(deriving.samples(inputs), "float32").header
    assert (header.samples, header.draws) == (1, DRAWS)


def _product(seen: list[Any]) -> Callable[..., tuple[Any, ...]]:
    def again(a: np.ndarray, b: np.ndarray) -> tuple[Any, ...]:
        seen.append(a.dtype)
        return (a @ b,)

    return again


@pytest.mark.parametrize("sizes", [(1e30, 1e-25), (1e30, 1e30), (1e-40, 1e-3)])
def test_large_sums_of_squares_are_made_in_single_precision_whatever_their_size(sizes: tuple[float, float]) -> None:
    seen: list[Any] = []
    a, b = (noise(*shape).astype(np.float64) * size for shape, size in zip([(300, 40), (40, 300)], sizes, strict=True))
    total = sum_of_squares([a, b], _product(seen), LARGE)
    assert seen == [np.float32]
    np.testing.assert_allclose(total, (a * a) @ (b * b), rtol=1e-5)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(1e-25, id="its squares are less than single precision has"),
        pytest.param(3e-10, id="its sums have few digits there"),
        pytest.param(np.inf, id="not finite"),
    ],
)
def test_what_single_precision_does_not_hold_is_summed_in_double(row: float) -> None:
    seen: list[Any] = []
    a, b = noise(300, 40).astype(np.float64), noise(40, 300, seed=1).astype(np.float64)
    a[7] = row
    b[:, 3] = 1e-9
    total = sum_of_squares([a, b], _product(seen), LARGE)
    assert seen[-1] == np.float64
    np.testing.assert_allclose(total, (a * a) @ (b * b), rtol=1e-12)
