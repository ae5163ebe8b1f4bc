"""An array as Python code is the array, its shape and type too."""

from __future__ import annotations

import numpy as np
import pytest

from assay.ports import Tensor
from assay.worker.regions.describe_region import array_code


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 0, 3), np.float32),
        np.zeros((0, 1, 4), np.int64),
        np.zeros(0, np.bool_),
        np.array(1.5, np.float64),
        np.array([[1, 2]], np.uint8),
    ],
)
def test_an_array_as_code_is_the_array(array: Tensor) -> None:
    again = eval(array_code(array), {"np": np})
    assert (again.shape, again.dtype) == (array.shape, array.dtype)
    assert again.tolist() == array.tolist()
