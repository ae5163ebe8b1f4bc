"""Equal numbers are told apart, and the order of the others stays."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.screening import UNTIED
from assay.generators.untied import untied, without_ties
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase


@pytest.mark.parametrize(
    "array", [np.float32([[3, 1], [3, 1]]), np.float16([0, 0, 0, 5]), np.array([2, 2, -7, 2]), np.uint8([1, 0, 1])]
)
def test_of_equal_numbers_the_first_is_the_largest(array: Tensor) -> None:
    apart = without_ties(array)
    assert (apart.dtype, apart.shape) == (array.dtype, array.shape)
    assert len(np.unique(apart)) == apart.size
    wide = array.astype(np.float64).reshape(-1)
    assert np.argsort(-apart.astype(np.float64).reshape(-1)).tolist() == np.argsort(-wide, kind="stable").tolist()


@pytest.mark.parametrize(
    ("array", "due"),
    [
        (np.array([-5, -5, -1, 0]), [-5, -6, -1, 0]),
        (np.array([0, 1, 0, -1, 0]), [0, 1, -1, -3, -2]),
        (np.uint8([0, 0, 1, 200]), [1, 0, 2, 200]),
        (np.array([5, 5, 4, 4, -1, -1]), [7, 6, 5, 4, -1, -2]),
    ],
)
def test_a_zero_stays_and_no_number_moves_that_need_not(array: Tensor, due: list[int]) -> None:
    assert without_ties(array).tolist() == due


def test_real_numbers_keep_their_sign_and_one_zero() -> None:
    apart = without_ties(np.float32([1, 0, 0, 2, -1e-3, -1e-3, 1e-3, 1e-3]))
    assert np.sign(apart).tolist() == [1, 0, -1, 1, -1, -1, 1, 1]
    assert apart[[0, 1, 3]].tolist() == [1, 0, 2]


def test_numbers_stay_near() -> None:
    np.testing.assert_allclose(without_ties(np.float32([3, 3, 2])), [3, 3, 2], atol=0.011)


@pytest.mark.parametrize("array", [np.float32([1, 2]), np.array([True, True]), np.full(200, 200, np.uint8)])
def test_nothing_is_tried_where_nothing_can_be_told_apart(array: Tensor) -> None:
    assert [*untied(GeneratedCase(b"", {"x": array}))] == []
    ((name, case),) = untied(GeneratedCase(b"", {"x": array, "y": np.float32([0, 0])}))
    assert name == UNTIED
    assert case.inputs["x"] is array
