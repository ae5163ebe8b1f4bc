"""Inputs of authored cases from one seed, the same on every machine and in every type."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from assay.core.dtype import is_floating, numpy_dtype
from assay.suites.torch_case import RandomArg

Array = np.ndarray[Any, Any]


def random_tensors(random: RandomArg, *, seed: int, case: str) -> Array:
    """The values of one input; `wanted.kind` is one of:

    normal         numbers: N(0, 1); integers: -9 to 9 (unsigned: 0 to 9); bool: even
    positive       |N(0, 1)| + 0.1; integers: 1 to 9
    unit           uniform in (-0.99, 0.99)
    wide           N(0, 1) times 2 to the power of uniform -8 to 8
    away           N(0, 1) pushed 0.1 away from the integers: for round, floor, fmod, comparisons
    level          whole numbers from -2 to 2, in any type: ties and zeros on purpose
    distinct       a shuffled ramp over [-2, 2): no ties, for sorting, arg and topk
    nonzero        normal, without zeros
    below:N        integers from 0 to N - 1 (indices)
    permutation    0 to size - 1, shuffled
    probability    uniform in (0.01, 0.99)
    """
    digest = hashlib.sha256(f"{seed}\0{case}\0{random.name}".encode()).digest()
    stream = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    kind, _, argument = random.kind.partition(":")
    dtype, shape = numpy_dtype(random.dtype), random.shape
    if kind == "below":
        return np.asarray(stream.integers(0, int(argument), shape)).astype(dtype)
    if kind == "permutation":
        return stream.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    if random.dtype == "bool":
        return np.asarray(stream.integers(0, 2, shape)).astype(bool)
    if not is_floating(random.dtype):
        return _whole(stream, kind, shape, dtype)
    return np.asarray(_real(stream, kind, shape)).astype(dtype)


def _whole(stream: np.random.Generator, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    if kind == "distinct":
        return stream.permutation(int(np.prod(shape, dtype=np.int64))).reshape(shape).astype(dtype)
    if kind == "level":
        return np.asarray(stream.integers(0 if dtype.kind == "u" else -2, 3, shape)).astype(dtype)
    low = 1 if kind == "positive" else 0 if dtype.kind == "u" or kind == "probability" else -9
    values = np.asarray(stream.integers(low, 10, shape))
    if kind == "nonzero":
        values = np.where(values == 0, 3, values)
    return values.astype(dtype)


def _real(stream: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    if kind == "distinct":
        count = int(np.prod(shape, dtype=np.int64))
        return ((stream.permutation(count) / max(count, 1)) * 4 - 2).reshape(shape)
    if kind == "unit":
        return np.asarray(stream.uniform(-0.99, 0.99, shape))
    if kind == "probability":
        return np.asarray(stream.uniform(0.01, 0.99, shape))
    if kind == "level":
        return np.asarray(stream.integers(-2, 3, shape)).astype(np.float64)
    values = np.asarray(stream.standard_normal(shape))
    if kind == "positive":
        return np.abs(values) + 0.1
    if kind == "wide":
        return values * 2.0 ** np.asarray(stream.uniform(-8, 8, shape))
    if kind == "nonzero":
        return np.sign(values) * (np.abs(values) + 0.1)
    if kind == "away":
        whole = np.floor(3 * values)
        return whole + 0.1 + 0.3 * np.asarray(stream.uniform(0, 1, shape))
    return values
