"""Same answer in segmentation: the same class at every pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, number, option, output_of

_MOST_NAMED = 4096
"""Classes with a figure of their own: a map of garbage has as many as pixels."""


def segmentation(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics of output `output` ("logits", or the only one): scores (N, classes, H, W), or classes as whole numbers, (N, H, W),
    (N, 1, H, W) or (N, H, W, 1). Of one channel of scores, (N, 1, H, W) or (N, H, W), `threshold` says above which a pixel is foreground.

    pixel_agreement: share of pixels with the same class; mean_iou_agreement and iou_agreement_class<k>: intersection
    over union with the expected classes; mean_iou and iou_class<k>: with label `label` ("mask", (N, H, W)), without the pixels of which
    it says a number that is no class (255 and -1 are usual); psnr_db: of the scores, with the expected range as the peak (NaN for a
    constant). Classes that occur on neither side are left out; beyond the first 4096, a class counts in the mean alone.
    """
    name = output_of(options, expected)
    got, expected_rows = joined(actual, name), joined(expected, name)
    scores = _are_scores(expected_rows, name)
    ours, theirs = (
        _from_scores(array, name, options) if scores else _as_they_are(array) for array in (got, expected_rows)
    )
    count = max(2, got.shape[1] if got.ndim > 3 else 1) if scores else 1 + max(map(_highest, (ours, theirs)))
    agreement = _iou(ours, theirs, count)
    figures = {
        "pixel_agreement": float(np.mean(ours == theirs)),
        "mean_iou_agreement": _mean(agreement),
        **({"psnr_db": _psnr(got.astype(np.float64), expected_rows.astype(np.float64))} if scores else {}),
        **_named("iou_agreement_class", agreement),
    }
    truth = label(labels, option(options, "label", "mask"), len(got))
    if truth is not None:
        if truth.size != ours.size:
            raise UsageError(noted(TaskMetricCode.PIXEL_FOR_EACH, labelled=truth.shape, output=name, shape=ours.shape))
        if count == 2 and np.array_equal(np.unique(truth), (0, 255)):
            raise UsageError(noted(TaskMetricCode.MASK_OF_255))
        against = _iou(ours, np.asarray(truth).reshape(ours.shape), count)
        figures |= {"mean_iou": _mean(against), **_named("iou_class", against)}
    return figures


def _are_scores(tensor: Tensor, name: str) -> bool:
    """Whole numbers of several channels are the scores of a quantized model; those with one number for each pixel are classes."""
    if tensor.ndim < 3:
        raise UsageError(noted(TaskMetricCode.NO_CLASS_SCORES, output=name, shape=tensor.shape))
    if tensor.ndim == 3:
        return not np.array_equal(tensor, np.floor(tensor))
    return tensor.dtype.kind not in "iub" or (tensor.shape[1] > 1 and tensor.shape[-1] > 1)


def _as_they_are(classes: Tensor) -> Tensor:
    return classes if classes.ndim == 3 else classes[:, 0] if classes.shape[1] == 1 else classes[..., 0]


def _highest(classes: Tensor) -> int:
    return int(classes[np.isfinite(classes)].max(initial=0))


def _from_scores(tensor: Tensor, name: str, options: Mapping[str, Option]) -> Tensor:
    """One class for each pixel."""
    tensor = tensor[:, None] if tensor.ndim == 3 else tensor
    if tensor.shape[1] > 1:
        return np.asarray(tensor.argmax(axis=1))
    limit = number(options, "threshold")
    if limit is None:
        raise UsageError(noted(TaskMetricCode.ONE_CHANNEL, output=name))
    return np.asarray(tensor[:, 0] > limit, np.int64)


def _iou(first: Tensor, other: Tensor, classes: int) -> dict[int, float]:
    """Of each class that occurs, where `other` says a class. The time is that of the pixels, whatever the numbers of the classes are."""
    known = (other >= 0) & (other < classes)
    first, other = first[known], other[known]
    ours, theirs, both = _counts(first), _counts(other), _counts(other[first == other])
    ious = {}
    for index in sorted(ours.keys() | theirs.keys()):
        if 0 <= index < classes and index == int(index):
            common = both.get(index, 0)
            ious[int(index)] = common / (ours.get(index, 0) + theirs.get(index, 0) - common)
    return ious


def _counts(pixels: Tensor) -> dict[float, int]:
    """How many pixels there are of each class."""
    values, counts = np.unique(pixels, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _named(prefix: str, values: Mapping[int, float]) -> dict[str, float]:
    return {f"{prefix}{k}": value for k, value in islice(values.items(), _MOST_NAMED)}


def _mean(values: Mapping[int, float]) -> float:
    return float(np.mean(list(values.values()))) if values else float("nan")


def _psnr(actual: Tensor, expected: Tensor) -> float:
    peak = float(np.ptp(expected)) if expected.size else 0.0
    if peak == 0:
        return float("nan")
    error = float(np.mean((actual - expected) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(peak**2 / error))
