"""Random numbers made once and used many times: noise costs a pass over memory, not a generator.

Each place of each draw takes a stretch at an offset of its own. Two stretches may overlap, shifted; so that even a plain sum
over one is nearly independent of a sum over another, a stretch is at most a sixteenth of the pool, and a long place is
put together from several of either sign.
"""

from __future__ import annotations

import math
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
        self._amplified: dict[float, Tensor] = {}
        self._factors: dict[tuple[float, str], Tensor] = {}

    def noise(self, shape: tuple[int, ...], amplified: float, random: np.random.Generator) -> Tensor:
        """Of this shape and standard deviation; not to be written to."""
        if amplified not in self._amplified:
            self._amplified[amplified] = self._noise * np.float32(amplified)
        return self._take(self._amplified[amplified], shape, random, signed=True)

    def factor(self, shape: tuple[int, ...], scale: float, dtype: Any, random: np.random.Generator) -> Tensor:
        """1 + scale U(-1, 1), of this shape and type; not to be written to."""
        key = scale, np.dtype(dtype).str
        if key not in self._factors:
            self._factors[key] = (1 + self._noise.astype(np.float64) * (scale / _SPREAD)).astype(dtype)
        return self._take(self._factors[key], shape, random, signed=False)

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
