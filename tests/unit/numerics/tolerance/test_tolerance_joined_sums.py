"""Samples evaluated at once, where an output does not hold a row for each."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import Lowering
from assay.numerics.tolerance.judge.systematic_error import Sums
from sentences import says


@pytest.mark.parametrize("shape", [(1, 1), (), (3, 2)])
def test_samples_that_depend_on_each_other_are_told(shape: tuple[int, ...]) -> None:
    value = {"y": np.ones(shape)}
    with pytest.raises(Lowering, check=says("output 'y' has no row for each sample")):
        Sums(value, 5).add(value, value)
