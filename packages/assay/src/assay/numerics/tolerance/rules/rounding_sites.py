"""Where operators round, and the noise of all places of one operator, made at once for several draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.ports import Tensor

Deviation = np.ndarray[Any, np.dtype[np.float32]]
MANY = 9
"""Places of one operator from which on making all their noise at once is less work: those of steps that repeat."""
MOST = 1 << 22
"""Numbers of one operator and all draws that are made at once: beyond, each place makes its own when it is reached."""


NOTHING = -0.0
"""Added to any number it leaves every bit of it as it is; 0.0 would take the sign of -0.0."""


class Diverged(Exception):
    """A draw went another way through the graph than the recording did."""


class RoundingSite(NamedTuple):
    """Where a recording found noise: `deviation` None where none is added."""

    shape: tuple[int, ...]
    deviation: Deviation | None
    kind: str = ""

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class RoundingSites:
    """Of one operator, in order; what all draws need to know of them is found once, when all are recorded."""

    def __init__(self) -> None:
        self.each: list[RoundingSite] = []

    def following(self, passed: dict[tuple[str, ...], int], outputs: tuple[str, ...]) -> tuple[int, RoundingSite]:
        """The next place of the operator that gives `outputs`, and its number; `passed` counts how many of each were met.
        Raises Diverged where the recording has no more."""
        number = passed.get(outputs, 0)
        passed[outputs] = number + 1
        if number >= len(self.each):
            raise Diverged
        return number, self.each[number]

    @cached_property
    def noisy(self) -> list[int]:
        """Numbers of those that have noise."""
        return [number for number, place in enumerate(self.each) if place.deviation is not None]

    @cached_property
    def sizes(self) -> Tensor:
        """Elements of each that is noisy."""
        return np.array([self.each[number].size for number in self.noisy])

    @cached_property
    def first_of(self) -> dict[str, int]:
        """The first of each kind among those that are noisy."""
        columns: dict[str, int] = {}
        for column, number in enumerate(self.noisy):
            columns.setdefault(self.each[number].kind, column)
        return columns

    @cached_property
    def groups(self) -> list[tuple[list[int], Deviation]]:
        """Those of one size: where they are among the noisy ones, and the deviations of each in a row."""
        groups: dict[int, list[int]] = {}
        for column, size in enumerate(self.sizes.tolist()):
            groups.setdefault(size, []).append(column)
        return [(columns, self._stacked(columns)) for columns in groups.values()]

    def _stacked(self, columns: Sequence[int]) -> Deviation:
        places = (self.each[self.noisy[column]] for column in columns)
        return np.array([place.deviation.reshape(-1) for place in places if place.deviation is not None])

    @cached_property
    def are_whole(self) -> bool:
        """Whether there are many, each with a deviation for every element."""
        places = [self.each[number] for number in self.noisy]
        return len(places) >= MANY and all(
            place.deviation.shape == place.shape for place in places if place.deviation is not None
        )

    def may_be_together(self, draws: int, longest: int) -> bool:
        """Whether there are many, none of more than `longest` elements, and room for the noise of all."""
        return self.are_whole and int(self.sizes.sum()) * draws <= MOST and int(self.sizes.max()) <= longest


def deviation_of(variance: Any, value: Tensor) -> Deviation | None:
    """Single precision will do; what is not finite adds no noise: NaN and infinity are compared as classes. None where there
    is no noise at all."""
    deviation: Deviation = np.sqrt(np.asarray(variance, dtype=value.dtype)).astype(np.float32)
    total = deviation.sum()
    if not math.isfinite(total):
        deviation = np.where(np.isfinite(deviation), deviation, np.float32(0))
        total = deviation.any()
    return deviation if total else None


class Together:
    """The noise of all `places` of one operator for some draws, whose stretches of the pool begin at `first` (a row for each draw,
    a column for each place that is noisy) and is `amplified` so: places of one size at once. `quiet` rows before them have none."""

    def __init__(
        self,
        pool: NoisePool,
        amplified: Sequence[float],
        places: RoundingSites,
        first: Tensor,
        *,
        quiet: int = 0,
        dtype: Any = np.float32,
    ) -> None:
        self._made: dict[int, Tensor] = {}
        rows = quiet + len(first)
        alike = len(set(amplified)) == 1
        louder = np.array(amplified, np.float32)[:, None]
        for columns, deviation in places.groups:
            count, size = deviation.shape
            noise = np.empty((count, rows, size), dtype)
            noise[:, :quiet] = NOTHING
            stretches = pool.stretches(size, amplified[0] if alike else 1.0, first.T[columns])
            if not alike:
                stretches *= louder
            noise[:, quiet:] = np.multiply(stretches, deviation[:, None], out=stretches)
            for row, column in zip(noise, columns, strict=True):
                number = places.noisy[column]
                self._made[number] = row.reshape(rows, *places.each[number].shape)

    def noise(self, number: int) -> Tensor:
        """Of the place of that number, a row for each draw; to be written to."""
        return self._made[number]
