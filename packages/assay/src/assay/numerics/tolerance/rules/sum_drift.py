"""How far a sum drifts when its terms are added up one after the other: roundings that all go the same way.

The rules of sums take every rounding for independent, so that an error grows with the root of the number of terms. Where one term
is nearly all of the sum, or all are alike, the same tiny number is added to a partial sum of the same binade thousands of times,
and is rounded to the same side each time: the error grows with the number of terms itself (Higham, Accuracy and Stability, 4.2).
The terms are known, so their actual error is evaluated instead of bounded: once from the first to the last, and in as many lanes
as vector units have, which are combined at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF
from assay.numerics.oracle.hooks import Call
from assay.numerics.oracle.kernels.terms import along
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import Variance
from assay.ports import Tensor

LANES = (1, 4, 8, 16)
"""Partial sums that an engine keeps beside each other: none, and those of vector units of 128, 256 and 512 bits."""
FEWEST = 16
"""Terms of a sum that may drift farther than independent roundings do."""
USUAL = 2.0
"""Standard deviations that are no sign of a drift: independent roundings come as far by chance, and every limit allows more."""

Wide = np.ndarray[Any, np.dtype[np.float64]]


def drift_of(terms: Tensor, unit: Arithmetic) -> Wide | None:
    """The largest error of a sum in single precision over the last axis of `terms`, in any of the orders above; 0 where it is not
    finite. None where sums are short or kept in another type."""
    count = terms.shape[-1] if terms.ndim else 0
    if count < FEWEST or not terms.size or unit.accumulate != UNIT_ROUNDOFF["float32"]:
        return None
    with np.errstate(all="ignore"):
        rows = np.ascontiguousarray(terms, np.float32).reshape(-1, count)
        exact = rows.sum(axis=-1, dtype=np.float64)
        errors = [np.abs(_added(rows, lanes) - exact) for lanes in LANES if count >= 2 * lanes]
    largest = np.max(np.stack(errors), axis=0)
    array: Wide = np.where(np.isfinite(largest), largest, 0.0).reshape(terms.shape[:-1])
    return array


def _added(rows: Tensor, lanes: int) -> Wide:
    """The sums of rows, every `lanes`-th term added to one partial sum, and then those."""
    whole = rows.shape[1] // lanes * lanes
    partial = np.add.accumulate(rows[:, :whole].reshape(len(rows), -1, lanes), axis=1)[:, -1]
    ending = np.concatenate([partial, rows[:, whole:]], axis=1)
    return np.asarray(np.add.accumulate(ending, axis=1)[:, -1], np.float64)


def with_drift(variance: Variance, terms: Tensor, unit: Arithmetic, value: Tensor, over: float = 1.0) -> Variance:
    """The variance at a place whose `value` is the sum of `terms` (their last axis) divided by `over`, with the drift of the sum:
    nothing more where independent roundings come as far."""
    drift = drift_of(terms, unit)
    return variance if drift is None else _beyond(variance, drift.reshape(np.shape(value)) / over)


def with_share_of_drift(
    variance: Variance, terms: Tensor, unit: Arithmetic, scale: Tensor, power: float = 1.0
) -> Variance:
    """The same where the drift as a share of a sum of terms that are not negative errs by `power` shares of `scale`: a mean of
    squares by one of itself, a root by a half, a logarithm by one of 1."""
    drift = drift_of(terms, unit)
    if drift is None:
        return variance
    sums = terms.sum(axis=-1, dtype=np.float64)
    share = np.divide(drift, sums, out=np.zeros_like(drift), where=sums > 0)
    return _beyond(variance, power * share.reshape(np.shape(scale)) * scale)


def _beyond(variance: Variance, drift: Any) -> Variance:
    with np.errstate(all="ignore"):
        beyond = np.square(drift) - USUAL**2 * variance
        return variance + np.where(beyond > 0, beyond, 0.0)


def reduced(call: Call) -> Tensor:
    """What a reduction or a global pool adds up, as the last axis: its axes are an attribute, an input, or all there are."""
    x = np.asarray(call.inputs[0])
    if call.operator.startswith("Global"):
        return along(x, *range(2, x.ndim))
    axes = call.attributes.get("axes") if call.input(1) is None else np.asarray(call.input(1)).reshape(-1).tolist()
    if not axes:
        axes = () if call.attributes.get("noop_with_empty_axes") else range(x.ndim)
    return along(x, *(int(axis) for axis in axes))
