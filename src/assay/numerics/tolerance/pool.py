"""Random numbers made once and used many times: noise costs a pass over memory, not a generator.

Each place of each draw takes a stretch at an offset of its own. Two stretches may overlap, shifted; so that even a plain sum
over one is nearly independent of a sum over another, a stretch is at most a sixteenth of the pool, and a long place is
put together from several of either sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.ports import Tensor

_SMALLEST, _LARGEST = 1 << 16, 1 << 20
_SHARE = 16
_SPREAD = 3**0.5
"""A uniform number in (-1, 1), times this, has a standard deviation of 1."""


class Pool:
    """Uniform noise of standard deviation 1, for places of up to `largest` elements mostly."""

    def __init__(self, seed: tuple[int, ...], largest: int) -> None:
        size = 1 << (_SHARE * max(1, largest) - 1).bit_length()
        self._size = min(_LARGEST, max(_SMALLEST, size))
        noise: Any = np.random.Generator(np.random.SFC64(seed)).random(self._size, dtype=np.float32)
        noise -= np.float32(0.5)
        noise *= np.float32(2 * _SPREAD)
        self._noise: Tensor = noise
        self._amplified: dict[float, Tensor] = {1.0: noise}

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
        if size > self._size // _SHARE:
            return np.stack([self.noise(shape, amplified, one, signed=signed) for one in randoms])
        pool = self._louder(amplified)
        first = [one.integers(self._size - size + 1) for one in randoms]
        stretches: Tensor = np.ndarray((self._size - size + 1, size), pool.dtype, pool, 0, pool.strides * 2)
        return stretches[first].reshape(len(randoms), *shape)

    def _louder(self, amplified: float) -> Tensor:
        if amplified not in self._amplified:
            self._amplified[amplified] = self._noise * np.float32(amplified)
        return self._amplified[amplified]

    def _take(self, pool: Tensor, shape: tuple[int, ...], random: np.random.Generator, *, signed: bool) -> Tensor:
        size = math.prod(shape)
        most = self._size // _SHARE
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
