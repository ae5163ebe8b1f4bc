"""Weights as they are however their channels are scaled: what one layer multiplies and the next divides leaves every answer as it was."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay_zoo.manifest import Matrix

if TYPE_CHECKING:
    import numpy as np

_KEPT, _MATRICES = 8, 32
_OF_SIZE, _MOST = 64, 1 << 22
"""Elements: of a larger matrix its first rows, since a reader of a stranger's file has little memory."""
_ROUNDS = 16
_SMALL = 1e-6
"""Of the largest of a matrix: what is left of the sine of pi."""
_DIFFERENT, _LOOKED_AT = 16, 4096
"""Absolute values: those of a mask are few."""
_LINES, _LONG, _UNFORESEEN = 64, 16, 0.02
_SPREAD = 1e-4


def unscaled(constants: Iterable[np.ndarray]) -> tuple[Matrix, ...]:
    """The largest matrices and kernels, each with its number of elements and with figures of it that neither a factor for each channel
    nor another order of them changes. None of what is computed, as a table of sines: two models may have the same."""
    matrices = []
    for array in constants:
        if array.dtype.kind == "f" and array.ndim > 1 and array.size >= _OF_SIZE and array.shape[1]:
            values = _figures(_first_rows(array)) if len(_first_rows(array)) else ()
            matrices += [Matrix(size=array.size, values=values)] if values else []
    return tuple(sorted(matrices, key=lambda matrix: (matrix.size, matrix.values), reverse=True)[:_MATRICES])


def _first_rows(array: np.ndarray) -> np.ndarray:
    """None where one is too many."""
    return array[: _MOST * len(array) // array.size]


def _figures(array: np.ndarray) -> tuple[float, ...]:
    """The largest mean fourth powers of rows and columns, where the mean square of each is brought to one."""
    import numpy as np

    sizes = np.abs(array.astype(np.float64).reshape(*array.shape[:2], -1))
    largest = float(sizes.max(initial=0))
    if not 0 < largest < math.inf or _is_mask(sizes) or is_computed(array):
        return ()
    squares = np.square(np.where(sizes < largest * _SMALL, 0, sizes / largest))
    of_pairs, per_pair = squares.sum(2), squares.shape[2]
    rows, columns = np.ones(len(of_pairs)), np.ones(of_pairs.shape[1])
    for _ in range(_ROUNDS):
        rows = _inverse(of_pairs @ columns) * len(columns) * per_pair
        columns = _inverse(rows @ of_pairs) * len(rows) * per_pair
    fourth = np.square(squares).sum(2)
    of_rows = np.square(rows) * (fourth @ np.square(columns)) / (len(columns) * per_pair)
    of_columns = np.square(columns) * (np.square(rows) @ fourth) / (len(rows) * per_pair)
    top = np.sort(np.concatenate([of_rows, of_columns]))[::-1][:_KEPT]
    is_told_apart = len(top) == _KEPT and np.isfinite(top).all() and top[0] - top[-1] > _SPREAD * top[0]
    return tuple(float(f"{value:.6g}") for value in top) if is_told_apart else ()


def _inverse(sums: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0))


def _is_mask(sizes: np.ndarray) -> bool:
    import numpy as np

    flat = sizes.reshape(-1)
    return len(np.unique(flat[:: max(flat.size // _LOOKED_AT, 1)])) < _DIFFERENT


def is_computed(array: np.ndarray) -> bool:
    """Whether each value follows from the two before it, along rows or columns, as in a wave: in what was trained it does not."""
    import numpy as np

    rows = _first_rows(array) if array.ndim > 1 and array.size else array[:0]
    if not len(rows) or not np.isfinite(rows).all():
        return False
    flat = rows.reshape(len(rows), -1)
    return any(_follows(lines[:: max(len(lines) // _LINES, 1)]) for lines in (flat, flat.T) if lines.shape[1] >= _LONG)


def _follows(lines: np.ndarray) -> bool:
    """By the two factors that are best for each line."""
    import numpy as np

    lines = lines.astype(np.float64)
    lines = lines / (np.abs(lines).max() or 1)
    first, second, third = lines[:, :-2], lines[:, 1:-1], lines[:, 2:]
    ff, fs, ss = ((a * b).sum(1) for a, b in ((first, first), (first, second), (second, second)))
    ft, st = (first * third).sum(1), (second * third).sum(1)
    divisor = ff * ss - fs * fs
    is_one = divisor <= 1e-9 * ff * ss
    safe = np.where(is_one, 1, divisor)
    on_first = np.where(is_one, 0, (ft * ss - st * fs) / safe)
    on_second = np.where(is_one, st * _inverse(ss), (st * ff - ft * fs) / safe)
    left = third - on_first[:, None] * first - on_second[:, None] * second
    return float(np.square(left).sum()) < _UNFORESEEN * float(np.square(third).sum())
