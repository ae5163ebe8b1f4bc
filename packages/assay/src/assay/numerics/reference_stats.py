"""The pass over the reference alone: its scale decides what error is allowed, and whether it can prove anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.dtype import is_floating
from assay.numerics import native_pass
from assay.numerics.chunks import Piece, chunks, over_blocks
from assay.numerics.element_types import ComputeType
from assay.ports import Tensor

_ROW = 1 << 13
_SHORT_ROW = 1 << 9
_ONES = np.ones(_SHORT_ROW, np.float32)
_MODEST = (1e-20, 1e32)

Narrow = np.ndarray[Any, np.dtype[np.float32]]


def products_by_matmul(rows: Tensor, factors: Tensor) -> Tensor:
    """The dot product of each row, by the same routine of BLAS as `numpy.vecdot`, which numpy 1 has not, and slower."""
    return np.asarray(rows[:, None, :] @ factors[..., :, None])[:, 0, 0]


_row_products = np.vecdot if hasattr(np, "vecdot") else products_by_matmul


@dataclass(frozen=True, slots=True)
class ReferenceStats:
    """The finite values of all samples. `squares` is the sum of (scale * value)^2.

    `scale` is 1, or the power of two that keeps the squares of very large or very small float64 representable.
    """

    elements: int = 0
    finite: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    squares: float = 0.0
    scale: float = 1.0

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        return max(abs(self.lowest), abs(self.highest)) if self.finite else 0.0

    @property
    def rms(self) -> float:
        """Root mean square of the finite values, in their own unit."""
        return math.sqrt(self.squares / self.finite) / self.scale if self.finite else 0.0


def squares(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Sum of squares. In rows: BLAS would start threads of its own on a longer one, and sums would depend on them."""
    whole = values.size - values.size % _ROW
    total = 0.0
    if whole:
        rows = values[:whole].reshape(-1, _ROW)
        total = float(_row_products(rows, rows).sum())
    if whole < values.size:
        total += float(values[whole:] @ values[whole:])
    return total


def squares_narrow(values: Narrow) -> float:
    """Sum of squares of float32: single precision inside rows, double across them.

    A row is short enough to stay within 1e-6, by far in practice. Squares that float32 cannot hold are summed in double.
    """
    whole = values.size - values.size % _SHORT_ROW
    if whole:
        rows = values[:whole].reshape(-1, _SHORT_ROW)
        result = float(_row_products(rows, rows).sum(dtype=np.float64))
        if _MODEST[0] < result < _MODEST[1]:
            return result + squares(values[whole:].astype(np.float64))
    return squares(values.astype(np.float64))


def total(values: Narrow) -> float:
    """Sum of non-negative float32, in the same way."""
    whole = values.size - values.size % _SHORT_ROW
    if whole:
        result = float(_row_products(values[:whole].reshape(-1, _SHORT_ROW), _ONES).sum(dtype=np.float64))
        if _MODEST[0] < result < _MODEST[1]:
            return result + float(values[whole:].sum(dtype=np.float64))
    return float(values.sum(dtype=np.float64))


def single(values: Tensor) -> Narrow:
    """The same values as float32; every type of the narrow lane fits."""
    narrow: Narrow = values if values.dtype == np.float32 else values.astype(np.float32)
    return narrow


def survey(expected: Sequence[Tensor], lane: ComputeType, threads: int = 0) -> ReferenceStats:
    """Look at every reference value once (twice where float64 values are extreme)."""
    first = _gather(expected, 1.0, threads)
    if lane is ComputeType.NARROW or not first.finite or not (first.peak > 1e100 or 0.0 < first.peak < 1e-100):
        return first
    return _gather(expected, 2.0 ** -math.frexp(first.peak)[1] if first.peak > 1e-300 else 2.0**1000, threads)


def _gather(expected: Sequence[Tensor], scale: float, threads: int) -> ReferenceStats:
    def one(block: list[Piece]) -> list[ReferenceStats]:
        with np.errstate(all="ignore"):
            return [_look(piece.expected, scale) for piece in chunks(block)]

    gathered = [part for parts in over_blocks(one, expected, expected, threads) for part in parts]
    return ReferenceStats(
        elements=sum(part.elements for part in gathered),
        finite=sum(part.finite for part in gathered),
        lowest=min((part.lowest for part in gathered), default=math.inf),
        highest=max((part.highest for part in gathered), default=-math.inf),
        squares=math.fsum(part.squares for part in gathered)
        if all(math.isfinite(p.squares) for p in gathered)
        else math.inf,
        scale=scale,
    )


def _look(values: Tensor, scale: float) -> ReferenceStats:
    if native_pass.suits(values):
        surveyed = native_pass.survey(values)
        if surveyed is not None and _MODEST[0] < surveyed[2]:
            return ReferenceStats(values.size, values.size, *surveyed, scale)
    if is_floating(values.dtype.name) and values.dtype != np.float64:
        narrow = single(values)
        low, high = float(narrow.min()), float(narrow.max())
        if math.isfinite(low) and math.isfinite(high):
            return ReferenceStats(narrow.size, narrow.size, low, high, squares_narrow(narrow), scale)
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if not finite.size:
        return ReferenceStats(elements=values.size, scale=scale)
    low, high = float(finite.min()), float(finite.max())
    return ReferenceStats(values.size, finite.size, low, high, squares(finite * scale), scale)
