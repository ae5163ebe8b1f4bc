"""Random numbers made once and used many times: noise costs a pass over memory, not a generator.

Each place of each draw takes a stretch at an offset of its own. Two stretches may overlap, shifted; so that even a plain sum
over one is nearly independent of a sum over another, a stretch is at most a sixteenth of the pool, and a long place is
put together from several of either sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from assay.ports import Tensor

_SMALLEST, _LARGEST = 1 << 16, 1 << 20
_SHARE = 16
_KEPT = 4
"""Pools that a process keeps, of 4 MB at most."""
_SPREAD = 3**0.5
"""A uniform number in (-1, 1), times this, has a standard deviation of 1."""


class NoisePool:
    """Uniform noise of standard deviation 1, for places of up to `largest` elements mostly."""

    def __init__(self, seed: tuple[int, ...], largest: int) -> None:
        size = 1 << (_SHARE * max(1, largest) - 1).bit_length()
        self._size = min(_LARGEST, max(_SMALLEST, size))
        self._seed = seed

    def noise(
        self, shape: tuple[int, ...], amplified: float, random: np.random.Generator, *, signed: bool = True
    ) -> Tensor:
        """Of this shape and standard deviation; not to be written to. `signed`: what a long one is put together from is turned
        round at random."""
        return self._take(self._louder(amplified), shape, random, signed=signed)

    def rows(
        self, shape: tuple[int, ...], amplified: float, randoms: Sequence[np.random.Generator], *, signed: bool = True
    ) -> Tensor:
        """The same for several at once, a row for each; to be written to."""
        size = math.prod(shape)
        if size > self.longest:
            return np.stack([self.noise(shape, amplified, random, signed=signed) for random in randoms])
        first = np.array([random.integers(self._size - size + 1) for random in randoms])
        return self.stretches(size, amplified, first).reshape(len(randoms), *shape)

    @property
    def longest(self) -> int:
        """Elements of a place that is one stretch."""
        return self._size // _SHARE

    def beginnings(self, sizes: Tensor, random: np.random.Generator) -> Tensor:
        """Where stretches of these sizes begin: the same as one after the other."""
        return random.integers(self._size - sizes + 1)

    def stretches(self, size: int, amplified: float, first: Tensor) -> Tensor:
        """Those of one size that begin at `first`, along a new last axis; to be written to."""
        pool = self._louder(amplified)
        every: Tensor = np.ndarray((self._size - size + 1, size), pool.dtype, pool, 0, pool.strides * 2)
        return every[first]

    def _louder(self, amplified: float) -> Tensor:
        return _uniform(self._seed, self._size, amplified)

    def _take(self, pool: Tensor, shape: tuple[int, ...], random: np.random.Generator, *, signed: bool) -> Tensor:
        size = math.prod(shape)
        most = self.longest
        if size <= most:
            first = int(random.integers(self._size - size + 1))
            return pool[first : first + size].reshape(shape)
        whole: Tensor = np.empty(size, pool.dtype)
        for start in range(0, size, most):
            part = whole[start : start + most]
            first = int(random.integers(self._size - part.size + 1))
            sign = -1 if signed and random.random() < 0.5 else 1
            np.multiply(pool[first : first + part.size], pool.dtype.type(sign), out=part)
        return whole.reshape(shape)


@lru_cache(maxsize=_KEPT)
def _uniform(seed: tuple[int, ...], size: int, amplified: float) -> Tensor:
    """The same numbers serve every model whose places are as large."""
    if amplified == 1.0:
        noise: Any = np.random.Generator(np.random.SFC64(seed)).random(size, dtype=np.float32)
        noise -= np.float32(0.5)
        noise *= np.float32(2 * _SPREAD)
    else:
        noise = _uniform(seed, size, 1.0) * np.float32(amplified)
    noise.flags.writeable = False
    return np.asarray(noise)
