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


def test_numbers_stay_near() -> None:
    np.testing.assert_allclose(without_ties(np.float32([3, 3, 2])), [3, 3, 2], atol=0.011)


@pytest.mark.parametrize("array", [np.float32([1, 2]), np.array([True, True]), np.full(200, 200, np.uint8)])
def test_nothing_is_tried_where_nothing_can_be_told_apart(array: Tensor) -> None:
    assert [*untied(GeneratedCase(b"", {"x": array}))] == []
    ((name, case),) = untied(GeneratedCase(b"", {"x": array, "y": np.float32([0, 0])}))
    assert name == UNTIED
    assert case.inputs["x"] is array
