"""Same answer in detection: the same objects, in the same places, with the same confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.flow import Option
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, option

THRESHOLDS = tuple(np.linspace(0.5, 0.95, 10))
"""Of IoU, as COCO averages them (cocodataset.org, detection evaluation)."""
RECALLS = np.linspace(0, 1, 101)
"""At which COCO reads the precision."""
MOST = 100
"""Objects of one class in one image that COCO counts, the best ones."""


@dataclass(frozen=True)
class Found:
    """The objects of one image, best first: boxes (D, 4) as xyxy in pixels, scores (D,), classes (D,)."""

    boxes: Tensor
    scores: Tensor
    classes: Tensor


def detection(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Objects are outputs `boxes` (N, D, 4), `scores` (N, D), `classes` (N, D); `format` is xyxy, xywh or cxcywh.

    matched: share of expected objects with `scores` >= `threshold` (0.3) that an actual object of the same class covers with
    IoU >= 0.5, and unmatched_actual the actual ones left over, as a share of the expected; mean_matched_iou;
    max_confidence_difference over matches; map50 and map50_95, as COCO computes them, against labels `boxes` (n, G, 4) and
    `classes` (n, G; negative is padding), with expected_map50 beside them; options `label_boxes` and `label_classes` name others.
    """
    threshold = float(options.get("threshold", 0.3))
    ours, theirs = _images(actual, options), _images(expected, options)
    figures = _agreement([_above(our, threshold) for our in ours], [_above(their, threshold) for their in theirs])
    boxes = label(labels, option(options, "label_boxes", "boxes"), len(ours))
    classes = label(labels, option(options, "label_classes", "classes"), len(ours))
    if boxes is not None and classes is not None:
        truth = [Found(b[c >= 0], np.ones(int((c >= 0).sum())), c[c >= 0]) for b, c in zip(boxes, classes, strict=True)]
        figures["map50"] = mean_average_precision(ours, truth, (0.5,))
        figures["map50_95"] = mean_average_precision(ours, truth, THRESHOLDS)
        figures["expected_map50"] = mean_average_precision(theirs, truth, (0.5,))
    return figures


def iou(tensor: Tensor, other: Tensor) -> Tensor:
    """Intersection over union of boxes (A, 4) and (B, 4), xyxy: (A, B); 0 where both are empty."""
    low = np.maximum(tensor[:, None, :2], other[None, :, :2])
    high = np.minimum(tensor[:, None, 2:], other[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=2)
    areas = [np.prod(np.clip(boxes[:, 2:] - boxes[:, :2], 0, None), axis=1) for boxes in (tensor, other)]
    union = areas[0][:, None] + areas[1][None, :] - shared
    return np.where(union > 0, shared / np.where(union > 0, union, 1), 0.0)


def match(detected: Found, truth: Found, at: float) -> list[tuple[int, int, float]]:
    """Pairs (found, wanted, IoU), greedy by confidence: each found object takes the best free one of its class, of equals the last."""
    overlaps = iou(detected.boxes, truth.boxes) * (detected.classes[:, None] == truth.classes[None, :])
    free = np.ones(len(truth.boxes), bool)
    pairs = []
    for index in range(len(detected.boxes)):
        candidates = np.where(free, overlaps[index], -1.0)
        if candidates.size and candidates.max() >= at:
            best = candidates.size - 1 - int(candidates[::-1].argmax())
            free[best] = False
            pairs.append((index, best, float(overlaps[index, best])))
    return pairs


def mean_average_precision(detected: Sequence[Found], truth: Sequence[Found], thresholds: Sequence[float]) -> float:
    """The mean over classes and IoU thresholds of the interpolated precision at 101 recalls, as COCO computes it (`COCOeval` of
    pycocotools, objects of all sizes). NaN where nothing is labelled.
    """
    classes = sorted({int(c) for sample in truth for c in sample.classes})
    values = [_average_precision(detected, truth, c, at) for c in classes for at in thresholds]
    return float(np.mean(values)) if values else float("nan")


def _average_precision(predictions: Sequence[Found], truth: Sequence[Found], chosen: int, at: float) -> float:
    scores: list[float] = []
    hits: list[bool] = []
    total = 0
    for detected, boxes in zip(predictions, truth, strict=True):
        ours, theirs = _of_class(detected, chosen, MOST), _of_class(boxes, chosen)
        total += len(theirs.boxes)
        matched = {index for index, _, _ in match(ours, theirs, at)}
        scores += [float(score) for score in ours.scores]
        hits += [index in matched for index in range(len(ours.boxes))]
    order = np.argsort(-np.asarray(scores), kind="stable")
    good = np.asarray(hits, bool)[order].cumsum()
    precision = good / np.arange(1, len(good) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    reached = np.searchsorted(good / total, RECALLS)
    return float(np.append(envelope, 0.0)[reached].mean())


def _agreement(ours: Sequence[Found], theirs: Sequence[Found]) -> dict[str, float]:
    count = sum(len(their.boxes) for their in theirs)
    overlaps: list[float] = []
    differences: list[float] = []
    left_over = 0
    for our, other in zip(ours, theirs, strict=True):
        pairs = match(our, other, 0.5)
        overlaps += [overlap for _, _, overlap in pairs]
        differences += [abs(float(our.scores[i]) - float(other.scores[j])) for i, j, _ in pairs]
        left_over += len(our.boxes) - len(pairs)
    return {
        "matched": len(overlaps) / count if count else float("nan"),
        "unmatched_actual": left_over / count if count else float(left_over),
        "mean_matched_iou": float(np.mean(overlaps)) if overlaps else float("nan"),
        "max_confidence_difference": max(differences, default=float("nan")),
    }


def _images(samples: Sequence[Tensors], options: Mapping[str, Option]) -> list[Found]:
    boxes, scores, classes = (joined(samples, option(options, name, name)) for name in ("boxes", "scores", "classes"))
    corners = _corners(boxes.astype(np.float64), option(options, "format", "xyxy"))
    images = []
    for box, score, kind in zip(corners, scores.astype(np.float64), classes, strict=True):
        order = np.argsort(-score, kind="stable")
        order = order[score[order] > 0]  # rows of score 0 are padding
        images.append(Found(box[order], score[order], kind[order]))
    return images


def _corners(boxes: Tensor, form: str) -> Tensor:
    first, second = boxes[..., :2], boxes[..., 2:]
    if form == "xywh":
        return np.concatenate([first, first + second], axis=-1)
    if form == "cxcywh":
        return np.concatenate([first - second / 2, first + second / 2], axis=-1)
    return boxes


def _above(boxes: Found, threshold: float) -> Found:
    keep = boxes.scores >= threshold
    return Found(boxes.boxes[keep], boxes.scores[keep], boxes.classes[keep])


def _of_class(boxes: Found, chosen: int, most: int | None = None) -> Found:
    keep = np.flatnonzero(boxes.classes == chosen)[:most]
    return Found(boxes.boxes[keep], boxes.scores[keep], boxes.classes[keep])
