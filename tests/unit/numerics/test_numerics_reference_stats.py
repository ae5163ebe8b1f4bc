"""Sums of the reference are the same beside every numpy."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.reference_stats import products_by_matmul


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [512, 8192])
@pytest.mark.parametrize("exponent", [-20, 0, 15])
def test_without_vecdot_the_sums_of_rows_are_the_same_bit_for_bit(dtype: type, length: int, exponent: int) -> None:
    if not hasattr(np, "vecdot"):
        pytest.skip("this numpy has no vecdot to compare with")
    rows = (np.random.default_rng(length).normal(size=(40, length)) * 10.0**exponent).astype(dtype)
    for factors in (rows, np.ones(length, dtype)):
        assert products_by_matmul(rows, factors).tobytes() == np.vecdot(rows, factors).tobytes()
