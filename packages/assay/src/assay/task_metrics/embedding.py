"""Same answer of an embedding: the same directions, and the same neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, one_each, option, output_of

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def embedding(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics of output `output` (N, ...): one vector for each row, whatever its shape.

    cosine_agreement and min_cosine_agreement: cosine of the angle between a vector and the reference's, mean and least.
    neighbour_agreement: share of rows whose nearest other row, by cosine, is the one that the reference has. Label `label` ("label")
    names the class of each row; recall_at_1 is the share of rows whose nearest other row has the same class (Musgrave et al. 2020), of
    those whose class another row has, too. NaN for neighbours of fewer than three rows, of which each has one neighbour at most, and for
    a vector of zeros, which has no direction.
    """
    name = output_of(options, expected)
    ours, theirs = _directions(joined(actual, name), name), _directions(joined(expected, name), name)
    cosines = (ours * theirs).sum(axis=1)
    near, reference_near = _nearest(ours), _nearest(theirs)
    figures = {
        "cosine_agreement": float(cosines.mean()),
        "min_cosine_agreement": float(cosines.min()),
        "neighbour_agreement": _share(near, reference_near),
    }
    label_option = option(options, "label", "label")
    truth = label(labels, label_option, len(ours))
    if truth is not None:
        classes = one_each(truth, label_option, len(ours))
        figures["recall_at_1"] = _recall(near, classes)
        figures["expected_recall_at_1"] = _recall(reference_near, classes)
    return figures


def _directions(tensor: Tensor, name: str) -> Matrix:
    """Vectors of length 1."""
    if tensor.ndim < 2 or not tensor.size:
        raise UsageError(noted(TaskMetricCode.NO_VECTORS, output=name, shape=tensor.shape))
    rows = np.asarray(tensor, np.float64).reshape(len(tensor), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _nearest(vectors: Matrix) -> Tensor | None:
    """Of each row the nearest other one."""
    if len(vectors) < 3 or not np.isfinite(vectors).all():
        return None
    close = vectors @ vectors.T
    np.fill_diagonal(close, -np.inf)
    return np.asarray(close.argmax(axis=1))


def _share(near: Tensor | None, expected: Tensor | None) -> float:
    """How often the neighbour is the one that is wanted."""
    return float("nan") if near is None or expected is None else float(np.mean(near == expected))


def _recall(near: Tensor | None, classes: Tensor) -> float:
    if near is None:
        return float("nan")
    _, which, count = np.unique(classes, return_inverse=True, return_counts=True)
    relevant = count[which] > 1
    return float(np.mean((classes[near] == classes)[relevant])) if relevant.any() else float("nan")
