"""Which elements decide by themselves whether an output is within any limit `|error| <= atol + rtol * |expected|`.

Take each element as a point (|expected|, |error|). For any rtol and atol of at least 0 the element that uses most of its allowance is a
corner of the upper convex hull of these points, between the largest relative and the largest absolute error: what lies below a line
between two corners, or between the origin and the first of them, uses less than one of the two. A million rounding errors leave some ten
corners, and they answer every such limit exactly.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

MOST_CORNERS = 96
"""Where errors lie on a smooth curve there are more: some are left out, and `slack` says how far the rest is off."""
LINES = 5
MANY = 512
_CAREFUL = 1.0 - 4e-6
"""Of a line in single precision: nothing above the exact one is overlooked."""
_LARGE = 1e30
Array = np.ndarray[Any, np.dtype[Any]]
"""Of doubles, or of places."""


def _none() -> Array:
    return np.empty(0)


class _Buffers(threading.local):
    """One set for each thread: allocating them for each chunk would cost as much as the arithmetic."""

    def __init__(self) -> None:
        self.bound, self.line, self.over = np.empty(0), np.empty(0), np.empty(0, bool)

    def of(self, error: Any) -> tuple[Any, Any, Any]:
        if self.over.size < error.size:
            self.bound, self.line = np.empty(error.size), np.empty(error.size)
            self.over = np.empty(error.size, bool)
        count = error.size
        return self.bound.view(error.dtype)[:count], self.line.view(error.dtype)[:count], self.over[:count]


_BUFFERS = _Buffers()


@dataclass(slots=True)
class Envelope:
    """The corners, from the largest relative error to the largest absolute one: |expected|, |error|, and the elements themselves.

    Every element seen lies below `1 + slack` times the line through the corners. An error that is not finite is above all limits:
    then it is the only corner.
    """

    size: Array = field(default_factory=_none)
    error: Array = field(default_factory=_none)
    expected: Array = field(default_factory=_none)
    actual: Array = field(default_factory=_none)
    position: Array = field(default_factory=lambda: np.empty(0, np.int64))
    slack: float = 0.0

    def lines(self) -> tuple[Array, Array]:
        """Base and slope of LINES lines: what is below one of them is below the envelope. Through four corners, so that
        most elements are told by a few operations each."""
        base, slope = np.zeros(LINES), np.zeros(LINES)
        if self.size.size:
            base[:] = largest = float(self.error[-1])
            last = self.size.size - 1
            known = [
                (0.0, 0.0),
                *((float(self.size[at]), float(self.error[at])) for at in (0, last // 3, 2 * last // 3, last)),
            ]
            for line, ((x, y), (right, top)) in enumerate(pairwise(known)):
                if x < right and top < _LARGE * (right - x) and largest < _LARGE:
                    slope[line] = (top - y) / (right - x)
                    base[line] = y - slope[line] * x
        return np.clip(base, 0.0, _LARGE) * _CAREFUL, np.clip(slope, 0.0, _LARGE) * _CAREFUL

    def above(self, size: Any, error: Any) -> Array:
        """Places that may lie above the envelope, in the precision of what is given."""
        if not self.size.size:
            return np.flatnonzero(error > 0)
        bases, slopes = (array.astype(error.dtype) for array in self.lines())
        bound, line, over = _BUFFERS.of(error)
        bound.fill(bases[-1])
        for base, slope in zip(bases, slopes, strict=True):
            if slope or base < bases[-1]:
                np.multiply(size, slope, out=line)
                line += base
                np.minimum(bound, line, out=bound)
        np.greater(error, bound, out=over)
        return np.flatnonzero(over)

    def at(self, size: Array) -> Array:
        """How large an error is that lies on the envelope."""
        if self.size[0] == 0.0:
            return np.asarray(np.interp(size, self.size, self.error))
        return np.asarray(np.interp(size, np.concatenate([[0.0], self.size]), np.concatenate([[0.0], self.error])))

    def add(
        self, size: Array, error: Array, expected: Array, actual: Array, position: Array, *, slack: float | None = None
    ) -> None:
        """Elements in double precision. Those that are equal to a corner leave the first of them."""
        slack = self.slack if slack is None else slack
        if self.error.size and not np.isfinite(self.error[-1]):
            return
        endless = np.flatnonzero(~np.isfinite(error))
        if endless.size:
            self._keep(*(array[endless[:1]] for array in (size, error, expected, actual, position)))
            return
        if self.size.size and error.size > MANY:
            near = self.above(size, error)
            size, error, expected, actual, position = (
                array[near] for array in (size, error, expected, actual, position)
            )
        if self.size.size:
            new = np.flatnonzero(error > (1.0 + slack) * self.at(size))
            if not new.size:
                return
            size, error, expected, actual, position = (
                array[new] for array in (size, error, expected, actual, position)
            )
        mine = (self.size, self.error, self.expected, self.actual, self.position)
        both = [np.concatenate(pair) for pair in zip(mine, (size, error, expected, actual, position), strict=True)]
        corners = _corners(both[0], both[1])
        self._keep(*(array[corners] for array in both))
        if self.size.size > MOST_CORNERS:
            self._thin()

    def join(self, other: Envelope) -> None:
        """Of other elements."""
        self.slack = max(self.slack, other.slack)
        self.add(other.size, other.error, other.expected, other.actual, other.position, slack=0.0)

    def copy(self) -> Envelope:
        return replace(self)

    def _keep(self, size: Array, error: Array, expected: Array, actual: Array, position: Array) -> None:
        self.size, self.error, self.expected, self.actual, self.position = size, error, expected, actual, position

    def _thin(self) -> None:
        """To two thirds of the corners that are kept at most: each time the one that the others tell worst stays."""
        last = self.size.size - 1
        kept = [0, last]
        over = self.error / np.interp(self.size, self.size[kept], self.error[kept])
        while len(kept) < MOST_CORNERS * 2 // 3 and over.max() > 1.0:
            kept = sorted([*kept, int(over.argmax())])
            over = self.error / np.interp(self.size, self.size[kept], self.error[kept])
        self.slack = (1.0 + self.slack) * max(1.0, float(over.max())) - 1.0
        self._keep(*(array[kept] for array in (self.size, self.error, self.expected, self.actual, self.position)))


def _corners(size: Array, error: Array) -> list[int]:
    """Places of the corners, by growing |expected|: Andrew's monotone chain over the elements that no smaller one exceeds."""
    order = np.lexsort((np.arange(size.size), -error, size))
    high = np.maximum.accumulate(error[order])
    first = error[order] > np.concatenate([[0.0], high[:-1]])
    chain: list[tuple[float, float, int]] = []
    for place in order[first]:
        x, y = float(size[place]), float(error[place])
        while chain and not _turns(chain[-2][:2] if len(chain) > 1 else (0.0, 0.0), chain[-1][:2], (x, y)):
            chain.pop()
        chain.append((x, y, int(place)))
    return [place for _, _, place in chain]


def _turns(before: tuple[float, float], corner: tuple[float, float], after: tuple[float, float]) -> bool:
    """Whether the corner is above the line between its neighbours. By shares of the last point, so that nothing overflows."""
    x, y = after
    if before[0] == corner[0] and before[1] < corner[1]:
        return True
    return (corner[1] - before[1]) / y * ((x - before[0]) / x) > (y - before[1]) / y * ((corner[0] - before[0]) / x)
