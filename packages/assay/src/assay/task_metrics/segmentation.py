"""Same answer in segmentation: the same class at every pixel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.ports import Tensor, Tensors
from assay.task_metrics.options import joined, label, option, output_of


def segmentation(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics of output `output` ("logits", or the only one, shape (N, classes, H, W)).

    pixel_agreement: share of pixels with the same class; mean_iou_agreement and iou_agreement_class<k>: intersection
    over union with the expected classes; mean_iou and iou_class<k>: with label `label` ("mask", (N, H, W));
    psnr_db: of the logits, with the expected range as the peak (NaN for a constant). Classes that occur on neither
    side are left out.
    """
    name = output_of(options, expected)
    got, wanted = joined(actual, name).astype(np.float64), joined(expected, name).astype(np.float64)
    ours, theirs = got.argmax(axis=1), wanted.argmax(axis=1)
    agreement = _iou(ours, theirs, got.shape[1])
    figures = {
        "pixel_agreement": float(np.mean(ours == theirs)),
        "mean_iou_agreement": _mean(agreement),
        "psnr_db": _psnr(got, wanted),
        **{f"iou_agreement_class{k}": value for k, value in agreement.items()},
    }
    truth = label(labels, option(options, "label", "mask"), len(got))
    if truth is not None:
        against = _iou(ours, np.asarray(truth), got.shape[1])
        figures |= {"mean_iou": _mean(against), **{f"iou_class{k}": value for k, value in against.items()}}
    return figures


def _iou(one: Tensor, other: Tensor, classes: int) -> dict[int, float]:
    found = {}
    for index in range(classes):
        a, b = one == index, other == index
        union = int(np.count_nonzero(a | b))
        if union:
            found[index] = int(np.count_nonzero(a & b)) / union
    return found


def _mean(values: Mapping[int, float]) -> float:
    return float(np.mean(list(values.values()))) if values else float("nan")


def _psnr(actual: Tensor, expected: Tensor) -> float:
    peak = float(np.ptp(expected)) if expected.size else 0.0
    if peak == 0:
        return float("nan")
    error = float(np.mean((actual - expected) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(peak**2 / error))
