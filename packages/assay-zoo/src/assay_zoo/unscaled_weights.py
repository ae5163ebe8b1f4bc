"""Weights as they are however their channels are scaled: what one layer multiplies and the next divides leaves every answer as it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

KEPT = 32
_OF_SIZE, _MOST = 64, 1 << 22
"""Elements: a larger matrix would take more memory than a reader of a stranger's file has."""
_ROUNDS = 8
"""One is enough where no weight is zero."""


def unscaled(constants: Iterable[np.ndarray]) -> tuple[float, ...]:
    """The largest logarithms among all matrices and kernels, each less the mean of its row and of its column: neither a factor for each
    channel nor another order of them changes those. None where there are few."""
    import numpy as np

    largest = np.zeros(0)
    for array in constants:
        if array.dtype.kind == "f" and array.ndim > 1 and _OF_SIZE <= array.size <= _MOST:
            logs = _centred(np.abs(array.astype(np.float64).reshape(*array.shape[:2], -1)))
            rounded = [float(f"{value:.6g}") for value in np.partition(logs, -KEPT)[-KEPT:]] if len(logs) > KEPT else []
            largest = np.unique(np.concatenate([largest, rounded]))[-KEPT:]
    return tuple(map(float, largest)) if len(largest) == KEPT else ()


def _centred(sizes: np.ndarray) -> np.ndarray:
    """Of those that are not zero, as one row."""
    import numpy as np

    is_kept = np.isfinite(sizes) & (sizes > 0)
    logs = np.log(sizes, out=np.zeros_like(sizes), where=is_kept)
    for _ in range(1 if is_kept.all() else _ROUNDS):
        for axes in ((1, 2), (0, 2)):
            count = np.maximum(is_kept.sum(axes, keepdims=True), 1)
            logs = np.where(is_kept, logs - logs.sum(axes, keepdims=True) / count, 0)
    return np.asarray(logs[is_kept])
