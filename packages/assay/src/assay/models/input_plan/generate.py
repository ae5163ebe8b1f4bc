"""Values of one input inside the range that its graph, or its user, states."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.core.input_plan import InputRange
from assay.numerics.shapes.needed_values import ASCENDING, COUNT, INDEX, LENGTH, MAGNITUDE, MASK, UNIQUE

Array = np.ndarray[Any, Any]
SPAN = 9
"""How far whole numbers reach past a bound that stands alone."""


WORDS = ("the", "cat", "sat", "on", "a", "mat", "A", "Word", "42", "")
"""Of which texts are made where nothing says which ones a model knows."""


def draw_texts(shape: tuple[int, ...], texts: Sequence[str], stream: np.random.Generator) -> Array:
    """An array of objects."""
    places = np.asarray(stream.integers(0, len(texts), shape))
    return np.array([texts[int(place)] for place in places.reshape(-1)], object).reshape(shape)


def draw_in_range(
    dtype: str, shape: tuple[int, ...], input_range: InputRange, stream: np.random.Generator, sample: int
) -> Array:
    """The values of one sample: masks are all ones in the first and ones before zeros in the others, lengths whole in the first,
    a choice of several another one in each; all else is spread evenly, or normally beside a single bound."""
    if dtype == "string":
        return draw_texts(shape, input_range.texts or WORDS, stream)
    kind = numpy_dtype(dtype)
    if input_range.exact and len(input_range.exact) == prod(shape):
        return np.asarray(input_range.exact).reshape(shape).astype(kind)
    if input_range.choices:
        return np.full(shape, input_range.choices[sample % len(input_range.choices)]).astype(kind)
    if input_range.lows and shape:
        return _by_column(dtype, shape, input_range, stream).astype(kind)
    low, high = _bounds(input_range)
    if input_range.kind == MASK and (low, high) == (0, 1):
        return _mask(shape, stream, sample).astype(kind)
    if is_floating(dtype):
        return _floating(shape, low, high, stream).astype(kind)
    first, last = _whole(low, high, dtype)
    if input_range.kind == UNIQUE:
        return _unique(shape, first, last, stream).astype(kind)
    if input_range.kind == ASCENDING:
        return _ascending(shape, first, last, stream).astype(kind)
    if input_range.kind == MAGNITUDE:
        return _of_all_magnitudes(shape, first, last, stream, sample).astype(kind)
    if input_range.kind == LENGTH:
        least = last if sample == 0 else max(first, (first + last) // 2)
        return np.asarray(stream.integers(least, last, shape, endpoint=True)).astype(kind)
    if input_range.kind == COUNT:
        last = min(last, first + 2 * SPAN)
    drawn = np.asarray(stream.integers(first, last, shape, endpoint=True)).astype(kind)
    if input_range.kind == INDEX and sample == 1 and drawn.size > 2:
        drawn.reshape(-1)[:2] = last, first  # the ends of the table, where no padding hides them
    return drawn


def _by_column(dtype: str, shape: tuple[int, ...], input_range: InputRange, stream: np.random.Generator) -> Array:
    further = (1.0,) * max(shape[-1] - len(input_range.lows), 0)
    lows = np.asarray((*input_range.lows, *(-end for end in further)))[: shape[-1]]
    highs = np.asarray((*input_range.highs, *further))[: shape[-1]]
    drawn = _uniform(lows, highs, shape, stream)
    for at, equals in enumerate(input_range.equals[: shape[-1]]):
        if equals:
            chosen = stream.integers(0, 2, shape[:-1]) == 1
            drawn[..., at] = np.where(chosen, stream.choice(equals, shape[:-1]), drawn[..., at])
    return drawn if is_floating(dtype) else np.rint(drawn)


def _uniform(low: float | Array, high: float | Array, shape: tuple[int, ...], stream: np.random.Generator) -> Array:
    """Of halves: what the largest numbers span is none."""
    return np.asarray(2.0 * stream.uniform(low / 2.0, high / 2.0, shape))


def _bounds(input_range: InputRange) -> tuple[float, float]:
    """With infinities where there is no bound."""
    return -inf if input_range.low is None else input_range.low, inf if input_range.high is None else input_range.high


def constant_over_samples(input_range: InputRange) -> bool:
    """Whether all samples have the same values: how large and how often, which decide shapes."""
    return input_range.kind == COUNT


def _mask(shape: tuple[int, ...], stream: np.random.Generator, sample: int) -> Array:
    """Ones before zeros along the last axis: how attention masks pad sequences. At least half are ones."""
    if not shape:
        return np.asarray(1)
    steps = shape[-1]
    kept = np.asarray(stream.integers(max(1, steps // 2), steps + 1, (*shape[:-1], 1)))
    return np.ones(shape) if sample == 0 else (np.arange(steps) < kept).astype(np.float64)


def _floating(shape: tuple[int, ...], low: float, high: float, stream: np.random.Generator) -> Array:
    if low > -inf and high < inf:
        return _uniform(low, high, shape, stream)
    normal = np.asarray(stream.standard_normal(shape))
    if low > -inf:
        return low + np.abs(normal)
    return high - np.abs(normal) if high < inf else normal


def _of_all_magnitudes(
    shape: tuple[int, ...], first: int, last: int, stream: np.random.Generator, sample: int
) -> Array:
    """1 to 3 as often as 100 to 300, and 0 among them, in every second pair of samples; in the others small ones, for large ones saturate
    a network. Of both signs where the range has them: a single number has one in each sample."""
    most = last if sample % 4 in (1, 2) else min(last, SPAN)
    sizes = np.exp2(stream.uniform(0.0, np.log2(most + 1.0), shape)).astype(np.int64) - 1
    if first >= 0:
        return np.asarray(sizes)
    if prod(shape) == 1:
        return np.asarray(-np.maximum(sizes, 1) if sample % 2 else sizes)
    return np.asarray(np.where(stream.integers(0, 2, shape), -sizes, sizes))


def _whole(low: float, high: float, dtype: str) -> tuple[int, int]:
    """Bounds as whole numbers inside of the type."""
    least, most = (0, 1) if dtype == "bool" else _integer_bounds(dtype)
    first = np.ceil(low) if low > -inf else min(0.0, high - SPAN)
    last = np.floor(high) if high < inf else first + SPAN
    begin = int(max(least, min(first, most)))
    return begin, int(max(begin, min(last, most)))


def _integer_bounds(dtype: str) -> tuple[int, int]:
    """The least and the largest number of a type such as int64 or uint4."""
    bits = int(dtype.removeprefix("u").removeprefix("int"))
    bits = min(bits, 63) if dtype.startswith("u") else bits  # numpy draws int64
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _ascending(shape: tuple[int, ...], first: int, last: int, stream: np.random.Generator) -> Array:
    """From the first to the last along the last axis, no step back, and no place twice where there are enough."""
    count = shape[-1] if shape else 1
    if not prod(shape) or count > last - first + 1:
        return np.sort(np.asarray(stream.integers(first, last, shape, endpoint=True)), axis=-1)
    inner = range(first + 1, last)
    rows = [
        [first, *sorted(stream.choice(inner, max(count - 2, 0), replace=False).tolist()), last][:count]
        for _ in range(prod(shape[:-1]))
    ]
    return np.asarray(rows).reshape(shape)


def _unique(shape: tuple[int, ...], first: int, last: int, stream: np.random.Generator) -> Array:
    """No place twice along the first axis of size above 1, as far as there are enough places."""
    drawn = np.asarray(stream.integers(first, last, shape, endpoint=True))
    count = prod(shape[:-1]) if len(shape) > 1 else prod(shape)
    if not 0 < count <= last - first + 1:
        return drawn
    places = first + stream.permutation(last - first + 1)[:count]
    if len(shape) < 2:
        return np.asarray(places.reshape(shape))
    drawn[..., 0] = places.reshape(shape[:-1])
    return drawn
