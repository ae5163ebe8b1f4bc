"""Filters over a window around each element, edges repeated. By numpy: importing scipy.ndimage costs more than deriving the
tolerance of a small model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from assay.ports import Tensor


def largest(value: Tensor, window: Sequence[int]) -> Tensor:
    """The largest of the window, one size for each axis; of an even one the longer half lies before the element."""
    return _filtered(value, window, np.maximum)


def smallest(value: Tensor, window: Sequence[int]) -> Tensor:
    """The smallest of the window."""
    return _filtered(value, window, np.minimum)


def average(value: Tensor, window: Sequence[int]) -> Tensor:
    """The mean of the window."""
    return _filtered(value, window, np.add) / math.prod(window)


def _filtered(value: Tensor, window: Sequence[int], combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """One axis after the other: all three are separable."""
    for axis, size in enumerate(window):
        length = value.shape[axis]
        if size > 1 and length:
            places = np.clip(np.arange(-(size // 2), length + size - 1 - size // 2), 0, length - 1)
            padded = np.take(value, places, axis=axis)
            at = (slice(None),) * axis
            value = reduce(combine, (padded[(*at, slice(start, start + length))] for start in range(size)))
    return value
