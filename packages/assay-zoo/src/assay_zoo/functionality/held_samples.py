"""Samples that a model holds among its weights: what it answers to those it may know, and not compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

_LEAST, _MOST = 16, 1 << 22
"""Elements of a sample, which a row of weights may be by chance where it has fewer; and of a matrix that is looked through."""
_ROWS = 8
"""Of each data set."""
_SAME = 0.9999
"""The cosine of the angle between the two: a factor is nothing else."""


def held_among(constants: Iterable[np.ndarray[Any, Any]], samples: Sequence[Mapping[str, np.ndarray[Any, Any]]]) -> int:
    """The number of the first sample of which a row stands among the rows or columns of a constant; -1 for none."""
    wanted = [
        (number, row) for number, sample in enumerate(samples) for array in sample.values() for row in _rows_of(array)
    ]
    for constant in constants:
        if constant.dtype.kind != "f" or constant.ndim < 2 or constant.size > _MOST:
            continue
        matrix = constant.reshape(len(constant), -1).astype(np.float64)
        for rows in (matrix, matrix.T):
            lengths = np.linalg.norm(rows, axis=1)
            for number, row in wanted:
                if len(row) == rows.shape[1] and (rows @ row > _SAME * lengths).any(where=lengths > 0):
                    return number
    return -1


def _rows_of(array: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Each of length one; not those of few different values, as a row of weights may be by chance."""
    if array.dtype.kind != "f" or array.ndim < 2:
        return []
    rows = [row.reshape(-1).astype(np.float64) for row in array[:_ROWS]]
    telling = [
        row for row in rows if len(row) >= _LEAST and np.isfinite(row).all() and 2 * len(np.unique(row)) > _LEAST
    ]
    return [row / np.linalg.norm(row) for row in telling]
