"""Numbers that show differences: of several sizes, not all alike, and whole where the type is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.generators.draws import Draws
from assay.ports import Tensor


def draw_values(draws: Draws, dtype: str, shape: Sequence[int], low: float, high: float) -> Tensor:
    """Within both ends, which whole numbers of no sign cut at 0."""
    if dtype == "bool":
        return np.asarray(draws.wholes(shape, 0, 1), np.bool_)
    if is_floating(dtype):
        return np.asarray(draws.reals(shape, low, high), numpy_dtype(dtype))
    first, last = int(np.ceil(low)), int(np.floor(high))
    if dtype.startswith("uint"):
        first, last = max(first, 0), max(last, 1)
    return np.asarray(draws.wholes(shape, min(first, last), last), numpy_dtype(dtype))
