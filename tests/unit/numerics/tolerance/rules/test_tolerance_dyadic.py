"""The step of dyadic numbers, against its definition element by element."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.numerics.tolerance.rules.dyadic import step_of

_SIGNIFICANT = 24


def _step(number: float) -> float:
    """By fractions: the largest power of two that divides a number."""
    if number == 0:
        return math.inf
    above, below = abs(number).as_integer_ratio()
    lowest = (above & -above) / below
    return lowest if abs(number) < lowest * 2**_SIGNIFICANT else 0.0


_grids = st.tuples(st.integers(-(2**25), 2**25), st.integers(-40, 40)).map(lambda pair: math.ldexp(*pair))
_numbers = st.one_of(_grids, st.integers(-130, 130).map(float), st.floats(allow_nan=False, allow_infinity=False))


@given(arrays(np.float64, (3, 4), elements=_numbers))
def test_the_step_of_each_column(array: np.ndarray) -> None:
    expected = [min(_step(float(number)) for number in column) for column in array.T]
    step = step_of(array, 1)
    if not all(map(_step, (float(number) for number in array.reshape(-1)))):
        # Looked at from the front: none has a step where one of the first has none.
        assert np.array_equal(np.broadcast_to(step, (1, 4))[0], np.where(step.max() == 0, 0.0, expected))
        return
    assert step.reshape(-1).tolist() == expected


@given(arrays(np.float64, (3, 4), elements=st.integers(-127, 127).map(lambda number: number / 64)))
def test_the_step_of_weights_on_a_grid(array: np.ndarray) -> None:
    expected = min(_step(float(number)) for number in array.reshape(-1))
    assert step_of(array).item() == expected


def test_a_large_array_that_begins_with_zeros_has_no_step_where_others_have_none() -> None:
    array = np.full((5, 10_000), 0.1)
    array[0] = 0.0
    assert not step_of(array).any()
    array[1:] = 3.0
    assert step_of(array).tolist() == [[1.0]]
