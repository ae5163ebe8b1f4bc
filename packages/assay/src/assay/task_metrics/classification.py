"""Same answer in classification: the same first choice, nearly the same probabilities, the same accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import check_classes, joined, label, one_each, option, output_of

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def classification(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics over all rows of output `output` ("logits", or the only one, classes on the last axis).

    top1_agreement: share of rows with the same first choice; top5_agreement: share whose expected first choice is among
    the actual five best; kl_divergence: mean of KL(expected || actual) in nats, after a softmax unless `scores` is
    "probabilities"; top1_accuracy and top5_accuracy against label `label`, with expected_top1_accuracy beside them.
    """
    name = output_of(options, expected)
    got, expected_rows = _rows(joined(actual, name), name), _rows(joined(expected, name), name)
    best = expected_rows.argmax(axis=1)
    softmax = option(options, "scores", "logits") != "probabilities"
    figures = {
        "top1_agreement": float(np.mean(got.argmax(axis=1) == best)),
        "top5_agreement": _among_best(got, best, 5),
        "kl_divergence": _kl(_probabilities(expected_rows, softmax), _probabilities(got, softmax)),
    }
    label_option = option(options, "label", "label")
    truth = label(labels, label_option, len(got))
    if truth is not None:
        truth = one_each(truth, label_option, len(got))
        check_classes(truth, label_option, got.shape[1])
        figures["top1_accuracy"] = _among_best(got, truth, 1)
        figures["top5_accuracy"] = _among_best(got, truth, 5)
        figures["expected_top1_accuracy"] = _among_best(expected_rows, truth, 1)
    return figures


def _rows(tensor: Tensor, name: str) -> Matrix:
    if not tensor.ndim or tensor.shape[-1] < 2:
        raise UsageError(noted(TaskMetricCode.ONE_CLASS, output=name, shape=tensor.shape))
    return np.asarray(tensor, np.float64).reshape(-1, tensor.shape[-1])


def _among_best(scores: Matrix, chosen: Tensor, count: int) -> float:
    best = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return float(np.mean((best == np.asarray(chosen).reshape(-1, 1)).any(axis=1)))


def _probabilities(scores: Matrix, softmax: bool) -> Matrix:
    if not softmax:
        return scores
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _kl(expected: Matrix, actual: Matrix) -> float:
    """Kullback and Leibler 1951; 0 log 0 is 0, and a probability of 0 where one was expected is infinitely surprising."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(expected > 0, expected * (np.log(expected) - np.log(actual)), 0.0)
    return float(np.mean(terms.sum(axis=1)))
