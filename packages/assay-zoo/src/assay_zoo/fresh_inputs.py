"""Inputs that nobody could have published: the values of the test data sets, in another order that is drawn here and now."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Part = np.ndarray[Any, Any]
Sample = Mapping[str, Part]
_NEAR = 1e-3
"""Share by which the numbers of a sample differ at least from those of another one."""
_COMPARED = 64
_LEAST = 8
"""Length from which an axis counts things of one kind (pixels, words, samples): a shorter one has settings, channels, columns."""


def drawn_again(samples: Sequence[Sample], seed: int | None = None) -> list[Sample]:
    """The same names, types and shapes; every value is one that the model takes. `seed` None: drawn from the system."""
    generator = np.random.default_rng(int.from_bytes(os.urandom(16), "little") if seed is None else seed)
    return [{name: _shuffled(values, generator) for name, values in one.items()} for one in samples]


def telling_samples(samples: Sequence[Sample]) -> tuple[int, int]:
    """How many different samples could tell a right answer from a wrong one, and how many there are at all. A sample whose
    inputs hold one value each could not, nor one that is nearly another."""
    telling: list[list[Part]] = []
    count = 0
    for one in samples:
        sizes = {values.shape[0] if values.ndim else 1 for values in one.values()}
        rows = sizes.pop() if len(sizes) == 1 else 1
        for row in range(rows):
            parts = [np.asarray(values[row] if rows > 1 else values) for values in one.values()]
            count += 1
            if any(map(_tells, parts)) and not any(_alike(parts, other) for other in telling[:_COMPARED]):
                telling.append(parts)
    return len(telling), count


def _tells(values: Part) -> bool:
    flat = values.reshape(-1)
    if flat.size == 1:
        return bool(flat[0])
    return flat.size > 0 and not _near(flat, np.full_like(flat, flat[0]))


def _alike(some: Sequence[Part], others: Sequence[Part]) -> bool:
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(one.shape == other.shape and _near(one, other) for one, other in pairs)


def _near(one: Part, other: Part) -> bool:
    """Numbers that differ by a rounding only; whole numbers and words are others or the same."""
    if one.dtype != other.dtype or one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one, other, rtol=_NEAR, atol=0.0, equal_nan=True))


def _shuffled(values: np.ndarray[Any, Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Along its long axes together; what a short axis counts keeps its own values."""
    long = [axis for axis, size in enumerate(values.shape) if size >= _LEAST]
    if not long:
        return values
    short = [axis for axis in range(values.ndim) if axis not in long]
    order = (*short, *long)
    turned = values.transpose(order)
    flat = turned.reshape(*turned.shape[: len(short)], math.prod(turned.shape[len(short) :]))
    mixed = generator.permuted(flat, axis=-1).reshape(turned.shape)
    return np.ascontiguousarray(mixed.transpose(np.argsort(order)))
