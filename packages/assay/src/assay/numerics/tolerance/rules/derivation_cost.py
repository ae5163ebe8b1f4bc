"""What the derivation of one sample takes, in a unit that is the same on every machine: the product of two numbers."""

from __future__ import annotations

import math

from assay.numerics.operators.index import record_of
from assay.numerics.oracle.hooks import Call
from assay.ports import Tensor

A_NUMBER = 128
"""Products that take as long as all that is done with one noisy number: 0.4 ns a product and 60 ns a number, of all evaluations."""
MOST = 1 << 34
"""Of one derivation: some ten seconds of a processor for the coarse tolerance, twice as long for the derived one. A sample beyond is
judged by what the noisiest element of the others was allowed; the first is derived whatever it takes."""


def products_of(call: Call, value: Tensor) -> int:
    """Of the sums that `value` is made of."""
    terms = record_of(call.operator).terms
    return 0 if terms is None else int(value.size * terms(call))


def cost_of(products: int, numbers: int) -> int:
    """Of a sample with so many products and noisy numbers."""
    return products + A_NUMBER * numbers


def affordable(cost: int, samples: int, *, rounds: bool = False) -> int:
    """How many of these samples are derived where one costs so much. `rounds`: values are put on a grid, and each that lies near an edge is
    moved over it too, which takes as many evaluations again."""
    return max(1, min(samples, math.floor(MOST / max(1, cost * (1 + rounds)))))
