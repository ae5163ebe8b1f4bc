"""What the three models are for, as one figure each; written apart from Assay so that the two can check each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FLOORS = {"classifier": 0.97, "detector": 0.8, "segmenter": 0.75}
"""What the committed models reach at least on held-out digits: top-1, mAP at IoU 0.5, mean IoU."""


def top1(logits: Array, label: Array) -> float:
    """The share of samples whose largest logit is the label's. `logits` (n, classes), `label` (n,)."""
    return float(np.mean(np.argmax(logits, axis=1) == label))


def mean_iou(logits: Array, mask: Array) -> float:
    """Intersection over union of each class over all samples together, averaged over the classes that occur.
    `logits` (n, classes, h, w), `mask` (n, h, w)."""
    found = np.argmax(logits, axis=1)
    shares = []
    for kind in range(logits.shape[1]):
        union = np.sum((found == kind) | (mask == kind))
        if union:
            shares.append(np.sum((found == kind) & (mask == kind)) / union)
    return float(np.mean(shares))


def mean_average_precision(boxes: Array, scores: Array, classes: Array, truth: Array, kinds: Array) -> float:
    """mAP at IoU 0.5, all points under the precision envelope (PASCAL VOC 2010), averaged over the classes that occur.
    Found: `boxes` (n, d, 4), `scores` and `classes` (n, d). True: `truth` (n, g, 4) and `kinds` (n, g), padded with -1."""
    return float(
        np.mean(
            [
                _average_precision(boxes, scores, classes == kind, truth, kinds == kind)
                for kind in np.unique(kinds[kinds >= 0])
            ]
        )
    )


def _average_precision(boxes: Array, scores: Array, mine: Array, truth: Array, real: Array) -> float:
    """Each true box is found once, by the surest detection that overlaps it most; all other detections are false."""
    sample, slot = np.nonzero(mine)
    order = np.argsort(-scores[sample, slot], kind="stable")
    taken = np.zeros(real.shape, bool)
    right = np.zeros(len(order), bool)
    for rank, at in enumerate(order):
        i = sample[at]
        overlap = np.where(real[i], _iou(boxes[i, slot[at]], truth[i]), 0)
        best = int(np.argmax(overlap))
        right[rank] = overlap[best] >= 0.5 and not taken[i, best]
        taken[i, best] |= right[rank]
    recall = np.concatenate([[0], np.cumsum(right) / real.sum()])
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(recall) * envelope))


def _iou(box: Array, others: Array) -> Array:
    """Of one xyxy box with each of (g, 4)."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    area = np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], axis=1)
    return np.asarray(shared / (area - shared))
