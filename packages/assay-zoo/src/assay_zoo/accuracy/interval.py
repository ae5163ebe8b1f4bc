"""How far a metric on these samples may lie from the one on others of their kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.ports import Tensor, Tensors
from assay.stats.proportion import wilson
from assay.task_metrics.scoring import score

CONFIDENCE = 0.997
_DEVIATIONS = 3.0
_GROUPS = 10


def metric_interval(
    task: str,
    metric: str,
    answered: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
    value: float,
) -> tuple[float, float]:
    """Both ends, infinite where the samples are too few to say. A share of the samples has Wilson's interval. Anything else has
    three standard errors of the jackknife over groups of samples (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    section 11.5); where all groups say the same, a metric between 0 and 1 varies no more than a share does."""
    count = len(answered)
    if 0.0 <= value <= 1.0 and math.isclose(value * count, round(value * count), abs_tol=1e-6):
        return wilson(round(value * count), count, CONFIDENCE)
    groups = min(_GROUPS, count)
    if groups < 2 or not math.isfinite(value) or any(len(label) % count for label in labels.values()):
        return -math.inf, math.inf
    parts = []
    for group in range(groups):
        kept = [at for at in range(count) if at % groups != group]
        fewer = [answered[at] for at in kept]
        rest = {name: _rows(label, count, kept) for name, label in labels.items()}
        parts.append(score(task, fewer, fewer, rest, options)[metric])
    error = math.sqrt((groups - 1) / groups * float(np.sum((np.array(parts) - np.mean(parts)) ** 2)))
    if error == 0.0 and 0.0 <= value <= 1.0:
        return wilson(round(value * count), count, CONFIDENCE)
    return value - _DEVIATIONS * error, value + _DEVIATIONS * error


def _rows(labels: Tensor, count: int, kept: Sequence[int]) -> Tensor:
    """Those of the samples `kept`, of which each has the same number of rows."""
    return labels.reshape(count, len(labels) // count, *labels.shape[1:])[list(kept)].reshape(-1, *labels.shape[1:])
