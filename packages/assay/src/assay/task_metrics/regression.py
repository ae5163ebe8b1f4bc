"""Same answer of a regression: the same numbers, in the unit of the output, and as much of their variation explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, option, output_of


def regression(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics over all numbers of output `output`, in its own unit.

    mean_absolute_difference and max_absolute_difference are from the reference; r2_agreement is the coefficient of determination with the
    reference as truth. Against label `label` ("target", of the output's shape): mae, rmse and r2, with expected_mae beside them. Of an
    output (N, D) a coefficient is the mean of those of its columns, which may have different units; of any other shape it is one of all
    numbers. One of numbers that are all equal is left out, and NaN where no other is left.
    """
    name = output_of(options, expected)
    ours, theirs = (np.asarray(joined(samples, name), np.float64) for samples in (actual, expected))
    away = np.abs(ours - theirs)
    figures = {
        "mean_absolute_difference": float(away.mean()),
        "max_absolute_difference": float(away.max()),
        "r2_agreement": _r2(ours, theirs),
    }
    truth = label(labels, option(options, "label", "target"), len(ours))
    if truth is not None:
        if truth.size != ours.size:
            raise UsageError(noted(TaskMetricCode.NUMBER_FOR_EACH, labelled=truth.shape, output=name, shape=ours.shape))
        target = np.asarray(truth, np.float64).reshape(ours.shape)
        figures["mae"] = float(np.abs(ours - target).mean())
        figures["rmse"] = float(np.sqrt(((ours - target) ** 2).mean()))
        figures["r2"] = _r2(ours, target)
        figures["expected_mae"] = float(np.abs(theirs - target).mean())
    return figures


def _r2(predicted: Tensor, truth: Tensor) -> float:
    columns = truth.shape[-1] if truth.ndim == 2 else 1
    predicted, truth = predicted.reshape(-1, columns), truth.reshape(-1, columns)
    spread, missed = (
        np.square(difference).sum(axis=0) for difference in (truth - truth.mean(axis=0), predicted - truth)
    )
    varies = spread > 0
    return float(np.mean(1.0 - missed[varies] / spread[varies])) if varies.any() else float("nan")
