"""What one pass over some of the elements has seen, and how two such accounts add up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.numerics import histogram, ulp
from assay.numerics.error_envelope import Envelope

WORST = 10
KEPT = 5
EXACT = 1 << 16
"""Outputs of at most this many elements keep every error: their quantiles are exact."""


@dataclass(slots=True)
class Point:
    """One element: how much of its allowance it used, its position in the stream, and both values."""

    budget: float
    position: int
    expected: float
    actual: float


@dataclass(slots=True)
class Clash:
    """Pairs of which only one side is NaN, or an infinity: how many, and the first of them."""

    count: int = 0
    first: list[Point] = field(default_factory=list)


@dataclass(slots=True)
class Accumulator:
    """Sums and extremes over pairs of finite numbers, and the clashes among the others.

    Values are multiplied by the scale of the reference. `lowest` and `highest` are extremes of the output in its own unit,
    or, where that is enough to show that it is neither constant nor saturated, of a few of its values. `octaves` and
    `ulps` are the histograms; `errors` every absolute error of a small output. `squared_expected` and `product` (the inner
    product) are None where the energy of the whole reference, and the error, tell the same. `envelope`: None where no limit but the
    one at hand is ever asked for.
    """

    pairs: int = 0
    sum_error: float = 0.0
    squared_error: float = 0.0
    squared_actual: float = 0.0
    squared_expected: float | None = None
    product: float | None = None
    max_abs: float = 0.0
    max_rel: float = 0.0
    budget: float = 0.0
    outside: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    octaves: histogram.Counts = field(default_factory=lambda: np.zeros(histogram.BINS, np.int64))
    ulps: histogram.Counts = field(default_factory=lambda: np.zeros(len(ulp.ULP_EDGES) - 1, np.int64))
    worst: list[Point] = field(default_factory=list)
    errors: list[np.ndarray[Any, np.dtype[np.float64]]] = field(default_factory=list)
    clashes: dict[str, Clash] = field(default_factory=dict)
    envelope: Envelope | None = None

    @property
    def clashing(self) -> int:
        """Pairs that differ in their class."""
        return sum(clash.count for clash in self.clashes.values())

    @property
    def bar(self) -> float:
        """The budget an element must use more of to be among the worst."""
        return self.worst[-1].budget if len(self.worst) == WORST else 0.0


def keep_worst(account: Accumulator, points: Iterable[Point]) -> None:
    """The WORST of those so far and these, the worst first, then by position."""
    ranked = sorted([*account.worst, *points], key=lambda point: (-point.budget, point.position))
    account.worst = ranked[:WORST]


def merge(parts: Iterable[Accumulator]) -> Accumulator:
    """One account of all parts, added in the given order."""
    total = Accumulator()
    for part in parts:
        for name in ("pairs", "sum_error", "squared_error", "squared_actual", "outside"):
            setattr(total, name, getattr(total, name) + getattr(part, name))
        for name in ("max_abs", "max_rel", "budget", "highest"):
            setattr(total, name, max(getattr(total, name), getattr(part, name)))
        total.lowest = min(total.lowest, part.lowest)
        total.octaves += part.octaves
        total.ulps += part.ulps
        total.errors += part.errors
        keep_worst(total, part.worst)
        if part.envelope is not None:
            total.envelope = total.envelope or Envelope()
            total.envelope.join(part.envelope)
        for kind, clash in part.clashes.items():
            known = total.clashes.setdefault(kind, Clash())
            known.count += clash.count
            known.first = [*known.first, *clash.first][:KEPT]
    return total
