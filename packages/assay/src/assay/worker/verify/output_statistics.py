"""Statistics of an engine's outputs, and of their relative errors, as inspection tools show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.evidence import is_drawn
from assay.core.tensor_statistics import TensorStatistics
from assay.ports import Tensor
from assay.worker.verify.reference_comparison import Samples

LARGEST = 2**24
"""Elements of an output up to which its relative errors are ranked: sorting more takes seconds."""
RANKS = {"rel_p50": 50, "rel_p90": 90, "rel_p99": 99}


def with_statistics(comparisons: Sequence[Comparison], actual: Samples, expected: Samples) -> tuple[Comparison, ...]:
    """Each output of the case with the statistics of what the engine gives, and of the relative error: |actual - expected| /
    |expected| where both are finite and expected is not zero. Texts and outputs that were not compared stay as they are."""
    return tuple(_with_statistics(comparison, actual, expected) for comparison in comparisons)


def _with_statistics(comparison: Comparison, actual: Samples, expected: Samples) -> Comparison:
    name = comparison.output
    pairs = [
        (np.asarray(ours[name]), np.asarray(theirs[name]))
        for ours, theirs in zip(actual, expected, strict=False)
        if name in ours and name in theirs
    ]
    if comparison.at or not pairs or any(array.dtype.kind not in "biufV" for pair in pairs for array in pair):
        return comparison
    mine = np.concatenate([_wide(ours).ravel() for ours, _ in pairs])
    theirs = np.concatenate([_wide(other).ravel() for _, other in pairs])
    ranked = mine.size == theirs.size <= LARGEST and not is_drawn(comparison)
    ranks = _relative_errors(mine, theirs) if ranked else {}
    return replace(comparison, actual=statistics_of(mine), metrics=ranks | comparison.metrics)


def _wide(array: Tensor) -> Tensor:
    return array.astype(np.float64)


def statistics_of(values: Tensor) -> TensorStatistics:
    """Of a tensor in float64."""
    finite = values[np.isfinite(values)]
    counts = {"nans": int(np.isnan(values).sum()), "infinities": int(np.isinf(values).sum())}
    if not finite.size:
        return TensorStatistics(**counts)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(finite.mean()), float(finite.std())
    return TensorStatistics(float(finite.min()), float(finite.max()), mean, deviation, **counts)


def _relative_errors(actual: Tensor, expected: Tensor) -> dict[str, float]:
    known = np.isfinite(actual) & np.isfinite(expected) & (expected != 0)
    if not known.any():
        return {}
    with np.errstate(over="ignore"):
        errors = np.abs(actual[known] - expected[known]) / np.abs(expected[known])
    ranked = np.percentile(errors, list(RANKS.values()))
    return {"mean_rel": float(errors.mean()), **dict(zip(RANKS, map(float, ranked), strict=True))}
