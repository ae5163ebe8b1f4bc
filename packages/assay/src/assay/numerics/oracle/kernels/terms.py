"""What a rule of a sum inside an operator is told: how many terms it has, and which they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.ports import Tensor


def along(x: Tensor, *axes: int) -> Tensor:
    """The terms of sums over `axes`, as the last axis and in the order in which they lie."""
    reduced = sorted(axis % x.ndim for axis in axes)
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    count = math.prod(x.shape[axis] for axis in reduced)
    return x.transpose(*kept, *reduced).reshape(*(x.shape[axis] for axis in kept), count)


def summed(x: Tensor, *axes: int, power: int = 1) -> dict[str, Any]:
    """`terms`, their number, and `each`, which makes them only where a rule asks: x to that power."""
    return {
        "terms": math.prod(x.shape[axis] for axis in axes),
        "each": lambda: along(x if power == 1 else np.square(x), *axes),
    }
