"""Sums of squared terms in single precision: a variance needs few digits, and a large product takes half the time so."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.numerics.tolerance.rules.dyadic import largest
from assay.ports import Tensor

LARGE = 1 << 16
"""Numbers of one operator from which on it is worth looking at what goes in."""
_SMALLEST = 1e-11
"""Of what goes in, its largest being 1: the square of a product of two such numbers is still a number of single precision ..."""
_SHORT = 1e-30
"""... and a sum of them above this one has its digits."""


def sum_of_squares(inputs: Sequence[Tensor], again: Callable[..., tuple[Any, ...]], size: int) -> Tensor:
    """`again`, the sum of products of `inputs` that has `size` numbers, of their squares."""
    if size >= LARGE and all(array.dtype == np.float64 for array in inputs) and len(inputs) <= 2:
        scales = [largest(array) for array in inputs]
        if all(_is_even(array, scale) for array, scale in zip(inputs, scales, strict=True)):
            parts = (np.square((array / scale).astype(np.float32)) for array, scale in zip(inputs, scales, strict=True))
            squares = np.asarray(again(*parts)[0])
            if squares.dtype == np.float32 and not np.any((squares > 0) & (squares < _SHORT)):
                wide: Tensor = np.maximum(squares, 0).astype(np.float64)
                wide *= math.prod(scales) ** 2
                return wide
    result: Tensor = again(*(array * array for array in inputs))[0]
    return np.maximum(result, 0)


def _is_even(tensor: Tensor, scale: float) -> bool:
    """Whether all numbers are finite, and none but zeros far smaller than the largest."""
    if not 0.0 < scale < math.inf:
        return False
    sizes = np.abs(tensor)
    return not bool(np.any((sizes < _SMALLEST * scale) & (sizes > 0)))
