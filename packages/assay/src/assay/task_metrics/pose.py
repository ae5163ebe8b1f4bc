"""Same answer in pose estimation: the same keypoints, as far as their kind and the size of the pose allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import joined, label, number, option

COCO = (
    0.026,
    0.025,
    0.025,
    0.035,
    0.035,
    0.079,
    0.079,
    0.072,
    0.072,
    0.062,
    0.062,
    0.107,
    0.107,
    0.087,
    0.087,
    0.089,
    0.089,
)
"""How far people who label disagree about each keypoint, as a share of the pose's size (cocodataset.org, keypoints evaluation)."""
PLAIN = 0.05
"""The same for each keypoint of a set that is not COCO's, unless `sigmas` says otherwise."""


def pose(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics of output `keypoints` (N, K, 2), or (N, K, 3) with a confidence that is not read: one pose for each row, in pixels.

    The similarity of two poses (OKS; Lin et al. 2014, COCO) is the mean over keypoints of exp(-d^2 / (2 s^2 k^2)): d is the
    distance, s the pose's size (the root of the area of the box around the true keypoints, or of label `scale`, an area for each
    pose), k twice the keypoint's sigma. `sigmas` is one number for all keypoints; without it they are COCO's where there are 17,
    else 0.05. Label `label` ("keypoints", (N, K, 2 or 3); beside own inputs `label_keypoints`): a third number of 0 says that a
    keypoint is not labelled. A pose that has no labelled keypoint, or no size, is left out; NaN where none is left.
    """
    name = option(options, "keypoints", "keypoints")
    ours, theirs = _points(joined(actual, name), name), _points(joined(expected, name), name)
    areas = label(labels, option(options, "scale", "scale"), len(ours))
    sigmas = _sigmas(options, ours.shape[1])
    everything = np.ones(theirs.shape[:2], bool)
    similar, relative = _similarity(ours, theirs, everything, areas, sigmas)
    figures = {
        "oks_agreement": _mean(similar),
        "min_oks_agreement": float(similar.min()) if similar.size else float("nan"),
        "max_keypoint_distance": float(relative.max()) if relative.size else float("nan"),
    }
    keypoints = label(labels, option(options, "label", "keypoints"), len(ours))
    if keypoints is not None:
        truth = _points(keypoints, f"label {name}")
        if truth.shape != ours.shape:
            raise UsageError(
                noted(TaskMetricCode.KEYPOINT_COUNT, labelled=truth.shape[1], output=name, keypoints=ours.shape[1])
            )
        labelled = keypoints[..., 2] > 0 if keypoints.shape[-1] == 3 else everything
        near, _ = _similarity(ours, truth, labelled, areas, sigmas)
        figures["oks"] = _mean(near)
        figures["oks50"] = _mean(near >= 0.5)
        figures["expected_oks"] = _mean(_similarity(theirs, truth, labelled, areas, sigmas)[0])
    return figures


def _points(tensor: Tensor, name: str) -> Tensor:
    if tensor.ndim != 3 or tensor.shape[-1] not in (2, 3):
        raise UsageError(noted(TaskMetricCode.NO_KEYPOINTS, output=name, shape=tensor.shape))
    return np.asarray(tensor[..., :2], np.float64)


def _sigmas(options: Mapping[str, Option], count: int) -> Tensor:
    sigmas = number(options, "sigmas")
    if sigmas is None:
        return np.asarray(COCO if count == len(COCO) else [PLAIN] * count)
    return np.full(count, sigmas)


def _similarity(
    tensor: Tensor, truth: Tensor, labelled: Tensor, areas: Tensor | None, sigmas: Tensor
) -> tuple[Tensor, Tensor]:
    """OKS of each pose, and each keypoint's distance as a share of the pose's size; poses without a size are left out. What is NaN
    is as far off as can be."""
    squares = np.asarray(areas, np.float64).reshape(-1) if areas is not None else _box_areas(truth, labelled)
    kept = labelled.any(axis=1) & (squares > 0)
    distances = np.square(tensor - truth).sum(axis=2)[kept]
    distances = np.where(np.isnan(distances), np.inf, distances)
    size, weights = squares[kept][:, None], labelled[kept]
    terms = np.exp(-distances / (2 * size * np.square(2 * sigmas)))
    return (terms * weights).sum(axis=1) / weights.sum(axis=1), np.sqrt(distances / size)[weights]


def _box_areas(points: Tensor, labelled: Tensor) -> Tensor:
    """Of the box around the labelled keypoints of each pose."""
    low = np.where(labelled[..., None], points, np.inf).min(axis=1)
    high = np.where(labelled[..., None], points, -np.inf).max(axis=1)
    area: Tensor = np.prod(np.maximum(high - low, 0.0), axis=1)
    return area


def _mean(values: Tensor) -> float:
    return float(values.mean()) if values.size else float("nan")
