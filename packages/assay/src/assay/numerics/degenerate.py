"""Outputs too poor to prove anything: empty, constant, all zero, saturated, or smaller than what is allowed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.dtype import is_floating
from assay.numerics.accumulator import Accumulator
from assay.numerics.element_types import extremes, real_name, smallest_normal
from assay.numerics.reference_stats import ReferenceStats
from assay.ports import Tensor

_FEWEST_NUMBERS = 2
_FEWEST_WHOLE = 16
"""Counts, shapes and flags are often constant and right: a few equal integers are no sign of a collapse."""


def degenerate_reference(reference: ReferenceStats, expected: Sequence[Tensor], dtype: str) -> str:
    """Why the reference proves nothing, or ""."""
    if not reference.elements:
        return "the reference is empty"
    if not reference.finite:
        return f"the reference has no finite element among {reference.elements}"
    return _degenerate("the reference", expected, dtype, reference.lowest, reference.highest, reference.finite)


def degenerate_output(account: Accumulator, actual: Sequence[Tensor], dtype: str) -> str:
    """Why the output is a collapsed one, or ""."""
    if not account.pairs:
        return ""
    return _degenerate("the output", actual, dtype, account.lowest, account.highest, account.pairs)


def is_vanishing(reference: ReferenceStats, account: Accumulator, dtype: str) -> bool:
    """Zeros for numbers all of which are below the normal ones of the type: rounding alone, or flushing, leaves no more."""
    return account.lowest == account.highest == 0.0 and reference.peak < smallest_normal(real_name(dtype))


def _degenerate(who: str, tensors: Sequence[Tensor], dtype: str, lowest: float, highest: float, finite: int) -> str:
    elements = sum(tensor.size for tensor in tensors)
    fewest = _FEWEST_NUMBERS if is_floating(dtype) else _FEWEST_WHOLE
    if lowest == highest and finite == elements and elements >= fewest:
        what = "all zero" if lowest == 0.0 else f"constant ({lowest:.6g})"
        return f"{who} is {what} in all {elements} elements"
    if dtype == "bool":
        return ""
    bottom, top = extremes(dtype)
    if elements < fewest or (lowest > bottom and highest < top and finite == elements):
        return ""
    at_bounds = sum(_at_bounds(tensor, bottom, top) for tensor in tensors)
    if 2 * at_bounds >= elements and elements - at_bounds < _FEWEST_WHOLE:
        return f"{who} is saturated: {at_bounds} of {elements} elements are at the bounds of {dtype}"
    return ""


def share_at_bounds(reference: ReferenceStats, expected: Sequence[Tensor], dtype: str) -> float:
    """0.0 below a half. The elements there would hide a larger value."""
    if dtype == "bool" or not reference.elements:
        return 0.0
    bottom, top = extremes(dtype)
    if reference.lowest > bottom and reference.highest < top and reference.finite == reference.elements:
        return 0.0
    share = sum(_at_bounds(tensor, bottom, top) for tensor in expected) / reference.elements
    return share if share >= 0.5 else 0.0


def _at_bounds(tensor: Tensor, bottom: float, top: float) -> int:
    values = tensor.astype(np.float64) if tensor.dtype != np.float64 else tensor
    if bottom == 0.0:
        return int(np.count_nonzero(values >= top))
    return int(np.count_nonzero((values <= bottom) | (values >= top)))
