"""Whether a model answers a row otherwise beside other rows, or at another place among them.

Runs in a process of its own: what it compares is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.models.goldens import read_golden
from assay_zoo.functionality.messages import SIZES, RowsRequest

Array = np.ndarray[Any, Any]

_MOVES = 0.05
"""Of the largest value that an element has in any row."""
_FLOOR = float(np.finfo(np.float32).eps)
"""Of the largest value of the output."""
_ROUNDING = 1e-12
"""Of the largest input, of 1 at least: what float64 leaves where terms cancel each other."""


def moved_row_inside(asked: str) -> str:
    """The target of `run_limited`: the output whose row is another beside other rows, "" where none is."""
    request = msgspec.json.decode(asked, type=RowsRequest)
    golden = read_golden(Path(request.reference))
    inputs = [array for sample in golden.inputs for array in sample.values() if array.dtype.kind == "f"]
    rounding = _ROUNDING * max([1.0, *(_largest(array) for array in inputs)])
    return moved_output(golden.outputs, rounding=rounding, quantizes=request.quantizes)


def moved_output(samples: Sequence[dict[str, Array]], *, rounding: float, quantizes: bool) -> str:
    """`samples` are the answers at each of SIZES, and to the last of them in reversed order."""
    for name, array in samples[0].items():
        if quantizes and array.dtype.kind not in "fc":
            continue  # the scale of all rows may make a label another
        ways = list(_in_rows([sample[name] for sample in samples]))
        if ways and all(_moved(rows, rounding, quantizes) for rows in ways):
            return name
    return ""


def _in_rows(answers: Sequence[Array]) -> Iterator[list[Array]]:
    """With the rows as the first axis, in each way in which the answers can be read so: one axis follows the rows, and it alone.
    Several elements of a row stand together on it, or each a whole batch apart. Nothing where no axis does."""
    sizes = (*SIZES, SIZES[-1])
    shapes = [array.shape for array in answers]
    if len({len(shape) for shape in shapes}) > 1:
        return
    moving = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1]
    if len(moving) != 1:
        return
    (axis,) = moving
    count = shapes[0][axis]
    if [shape[axis] for shape in shapes] != [count * size for size in sizes]:
        return
    first = [np.moveaxis(array, axis, 0) for array in answers]
    yield [array.reshape(size, count, -1) for array, size in zip(first, sizes, strict=True)]
    if count > 1:
        yield [array.reshape(count, size, -1).swapaxes(0, 1) for array, size in zip(first, sizes, strict=True)]


def _moved(answers: Sequence[Array], rounding: float, quantizes: bool) -> bool:
    """A number of the row itself, as lists of boxes have it, may well be another."""
    numbers = np.zeros(answers[0].shape[1:], bool)
    if answers[0].dtype.kind in "iuf":
        numbers = np.logical_and.reduce([(rows == _places(rows)).all(axis=0) for rows in answers])
    alone, some, many, backward = (rows[:, ~numbers] for rows in answers)
    fractions = alone.dtype.kind in "fc"
    allowed = _allowed([alone, some, many, backward], rounding, quantizes) if fractions else 0
    for row, other in ((alone, some), (alone, many), (some, many), (many, backward[::-1])):
        known = other[: len(row)]
        if not fractions and not np.array_equal(row, known):
            return True
        if fractions and not np.isclose(row, known, rtol=0, atol=allowed, equal_nan=True).all():
            return True
    return False


def _places(rows: Array) -> Array:
    return np.arange(len(rows)).reshape(-1, 1, 1)


def _allowed(answers: Sequence[Array], rounding: float, quantizes: bool) -> Array:
    """For each element of a row. What is quantized while it runs has one scale for all: small elements move with the usual ones."""
    sizes = np.concatenate([np.abs(rows).astype(np.float64) for rows in answers])
    largest = np.where(np.isfinite(sizes), sizes, 0).max(axis=0, initial=0.0)
    if quantizes and largest.size:
        largest = 2 * np.maximum(largest, np.median(largest))
    allowed: Array = np.maximum(_MOVES * largest, max(_FLOOR * float(largest.max(initial=0.0)), rounding))
    return allowed


def _largest(array: Array) -> float:
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
