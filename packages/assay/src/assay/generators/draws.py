"""Random numbers that are the same on every machine: Philox (Salmon et al., SC 2011, doi:10.1145/2063384.2063405), a counter-based
generator, whose raw 64-bit words numpy keeps stable (NEP 19). Only whole-number arithmetic and exact scalings follow: no libm."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from assay.ports import Tensor

T = TypeVar("T")
_BLOCK = 64


class Draws:
    """The stream of one case: named by generator, version, seed and index, and independent of every other."""

    def __init__(self, generator: str, version: int, seed: int, index: int) -> None:
        key = hashlib.sha256(f"{generator}/{version}/{seed}/{index}".encode()).digest()
        self._bits = np.random.Philox(key=np.frombuffer(key[:16], "<u8"))
        self._words: list[int] = []

    def below(self, end: int) -> int:
        """A whole number from 0 to `end` - 1."""
        if not self._words:
            self._words = [int(word) for word in self._bits.random_raw(_BLOCK)][::-1]
        return (self._words.pop() >> 11) * end >> 53

    def between(self, first: int, last: int) -> int:
        """Both ends are among them."""
        return first + self.below(last - first + 1)

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def weighted(self, choices: Sequence[tuple[int, T]]) -> T:
        """By whole weights."""
        at = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            at -= weight
            if at < 0:
                return choice
        raise AssertionError

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        for place in range(len(left) - 1, 0, -1):
            other = self.below(place + 1)
            left[place], left[other] = left[other], left[place]
        return left

    def reals(self, shape: Sequence[int], low: float, high: float) -> Tensor:
        """Steps of 2^-20 of the range, in float64: one multiplication and one addition, each rounded as IEEE 754 says."""
        words = self._bits.random_raw(int(np.prod(shape, dtype=np.int64)))
        steps = (np.asarray(words, np.uint64) >> np.uint64(44)).astype(np.float64)
        return np.asarray(steps * (2.0**-20 * (high - low)) + low).reshape(tuple(shape))

    def wholes(self, shape: Sequence[int], low: int, high: int) -> Tensor:
        """From `low` to `high`, both among them."""
        words = np.asarray(self._bits.random_raw(int(np.prod(shape, dtype=np.int64))), np.uint64)
        steps = ((words >> np.uint64(11)) % np.uint64(high - low + 1)).astype(np.int64)
        return np.asarray(steps + low).reshape(tuple(shape))
