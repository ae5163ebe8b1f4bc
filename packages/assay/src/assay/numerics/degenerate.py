"""Outputs too poor to prove anything: empty, constant, all zero, saturated, or smaller than what is allowed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.dtype import is_floating
from assay.core.finding import Finding, FindingCode, facts
from assay.numerics.accumulator import Accumulator
from assay.numerics.element_types import extremes, real_name, smallest_normal
from assay.numerics.reference_stats import ReferenceStats
from assay.ports import Tensor

KIND = "degenerate"
_FEWEST_NUMBERS = 2
_FEWEST_WHOLE = 16
"""Counts, shapes and flags are often constant and right: a few equal integers are no sign of a collapse."""
_LARGE = 1 << 16
"""Elements of one sample from which on two numbers are no chance: a mask of a picture."""
STILL = 2.0**-20
"""Share within which numbers are the same: float32 has little more, so that nothing is seen there."""
_FEWEST_VALUES = 3
"""Of an answer that is the same for all samples: one of less, as a class that is certain each time, is right by chance."""


def degenerate_reference(
    output: str, reference: ReferenceStats, expected: Sequence[Tensor], dtype: str
) -> Finding | None:
    """Why the reference proves nothing; None where it may prove something."""
    if not reference.elements:
        return empty_reference(output)
    if not reference.finite:
        return Finding(KIND, output, FindingCode.REFERENCE_NOT_FINITE, facts(elements=reference.elements))
    if reference.lowest == reference.highest and _rest_is_nan(expected, reference.finite):
        numbers = facts(value=float(reference.lowest), finite=reference.finite, elements=reference.elements)
        return Finding(KIND, output, FindingCode.REFERENCE_CONSTANT_OR_NAN, numbers)
    codes = FindingCode.REFERENCE_CONSTANT, FindingCode.REFERENCE_SATURATED
    seen_numbers = reference.lowest, reference.highest, reference.finite
    return _collapse(output, codes, expected, dtype, seen_numbers) or _repeated(output, expected, dtype)


def _repeated(output: str, expected: Sequence[Tensor], dtype: str) -> Finding | None:
    """Two numbers at the same places in all samples. Infinity beside one number is a mask, and right. Double tells such numbers apart."""
    if len(expected) < 2 or not is_floating(dtype) or dtype == "float64" or expected[0].size > _LARGE:
        return None
    first = expected[0].astype(np.float64)
    if any(tensor.shape != first.shape for tensor in expected) or not np.isfinite(first).all():
        return None
    steps = np.rint(first / (STILL * max(float(np.abs(first).max()), np.finfo(np.float64).tiny)))
    numbers = np.unique(steps).size
    if numbers >= _FEWEST_VALUES or not all(same_numbers(first, tensor, STILL) for tensor in expected):
        return None
    if numbers == 1:
        elements = sum(tensor.size for tensor in expected)
        seen = facts(value=float(first.reshape(-1)[0]), elements=elements)
        return Finding(KIND, output, FindingCode.REFERENCE_CONSTANT, seen)
    return Finding(KIND, output, FindingCode.REFERENCE_REPEATED, facts(samples=len(expected)))


def same_numbers(first: Tensor, second: Tensor, share: float) -> bool:
    """Whether two tensors of one shape have the same numbers within that share of the largest one that differs, or of 1.

    A mask of -1e9 beside numbers that differ says nothing of them. A class whose probability is 1 does: the others have 1e-20."""
    left, right = first.astype(np.float64), second.astype(np.float64)
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)):
        return False
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return False
    moved = finite & (left != right)
    if not moved.any():
        return True
    largest = max(np.abs(left[moved]).max(), min(1.0, np.abs(left[finite]).max()))
    return bool(np.abs(left[moved] - right[moved]).max() <= share * largest)


def _rest_is_nan(expected: Sequence[Tensor], finite: int) -> bool:
    """Whether some elements are NaN, and all others finite. Infinity beside one number is a mask, and right."""
    elements = sum(tensor.size for tensor in expected)
    return finite < elements == finite + sum(int(np.count_nonzero(np.isnan(tensor))) for tensor in expected)


def empty_reference(output: str) -> Finding:
    """It has no element."""
    return Finding(KIND, output, FindingCode.REFERENCE_EMPTY)


def degenerate_output(output: str, account: Accumulator, actual: Sequence[Tensor], dtype: str) -> Finding | None:
    """How the output is a collapsed one; None where it is not."""
    if not account.pairs:
        return None
    codes = FindingCode.OUTPUT_CONSTANT, FindingCode.OUTPUT_SATURATED
    return _collapse(output, codes, actual, dtype, (account.lowest, account.highest, account.pairs))


def is_vanishing(reference: ReferenceStats, account: Accumulator, dtype: str) -> bool:
    """Zeros for numbers all of which are below the normal ones of the type: rounding alone, or flushing, leaves no more."""
    return account.lowest == account.highest == 0.0 and reference.peak < smallest_normal(real_name(dtype))


def vanishing(collapse: Finding, dtype: str, peak: float) -> Finding:
    """The collapse of an output whose reference has no normal number either."""
    return Finding(
        KIND, collapse.output, FindingCode.OUTPUT_VANISHES, facts(dtype=dtype, peak=float(peak)), about=collapse
    )


def _collapse(
    output: str,
    codes: tuple[FindingCode, FindingCode],
    tensors: Sequence[Tensor],
    dtype: str,
    collapse: tuple[float, float, int],
) -> Finding | None:
    """`collapse` are the lowest and the highest number, and how many are finite; `codes` are those of a constant and of a saturated one."""
    lowest, highest, finite = collapse
    elements = sum(tensor.size for tensor in tensors)
    fewest = _FEWEST_NUMBERS if is_floating(dtype) else _FEWEST_WHOLE
    if lowest == highest and finite == elements and elements >= fewest:
        return Finding(KIND, output, codes[0], facts(value=float(lowest), elements=elements))
    if dtype == "bool":
        return None
    bottom, top = extremes(dtype)
    if elements < fewest or (lowest > bottom and highest < top and finite == elements):
        return None
    at_bounds = sum(_at_bounds(tensor, bottom, top) for tensor in tensors)
    if 2 * at_bounds >= elements and elements - at_bounds < _FEWEST_WHOLE:
        return Finding(KIND, output, codes[1], facts(at_bounds=at_bounds, elements=elements, dtype=dtype))
    return None


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
