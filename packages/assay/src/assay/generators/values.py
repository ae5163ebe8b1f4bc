"""Numbers that show differences: of several sizes, not all alike, and whole where the type is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.generators.draws import Draws
from assay.ports import Tensor

IN_HALVES = 12
"""Percent of the arrays of real numbers that are multiples of 0.5: some are equal, some lie between two whole numbers."""
SPECIAL_NUMBERS = (0.0, 1.0, -1.0, 2.0, 0.5)
"""Those of which a rewrite takes notice: what changes nothing, what takes all away, what a shift or a root does."""


def with_special(draws: Draws, array: Tensor, low: float, high: float) -> Tensor:
    """A special number in place of all elements, or of the first, or of every second."""
    known = [special for special in SPECIAL_NUMBERS if low <= special <= high]
    if not known or array.dtype.kind not in "fi" or not array.size:
        return array
    number = np.asarray(draws.one_of(known)).astype(array.dtype)
    flat = array.reshape(-1).copy()
    flat[draws.one_of((slice(None), slice(0, 1), slice(None, None, 2)))] = number
    return np.asarray(flat.reshape(array.shape))


def draw_values(draws: Draws, dtype: str, shape: Sequence[int], low: float, high: float) -> Tensor:
    """Within both ends, which whole numbers of no sign cut at 0."""
    if dtype == "bool":
        return np.asarray(draws.wholes(shape, 0, 1), np.bool_)
    if is_floating(dtype):
        array = draws.reals(shape, low, high)
        if draws.chance(IN_HALVES):
            array = np.clip(np.round(array * 2.0) / 2.0, low, high)
        return np.asarray(array, numpy_dtype(dtype))
    first, last = int(np.ceil(low)), int(np.floor(high))
    if dtype.startswith("uint"):
        first, last = max(first, 0), max(last, 1)
    return np.asarray(draws.wholes(shape, min(first, last), last), numpy_dtype(dtype))
