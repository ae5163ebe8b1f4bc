"""Poses on answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.errors import UsageError
from assay.task_metrics.scoring import score

SQUARE = np.array([[[0, 0], [10, 0], [0, 10], [10, 10]]], np.float32)
"""A pose of four keypoints; the box around it has an area of 100."""


def _moved(by: float) -> np.ndarray:
    """The first keypoint to the right."""
    moved = SQUARE.copy()
    moved[0, 0, 0] += by
    return moved


def _score(actual: np.ndarray, labels: dict[str, np.ndarray] | None = None, **options: object) -> dict[str, float]:
    return score("pose", [{"keypoints": actual}], [{"keypoints": SQUARE}], labels or {}, options)  # type: ignore[arg-type]


def test_the_same_pose_is_the_same() -> None:
    assert _score(SQUARE) == {"oks_agreement": 1.0, "min_oks_agreement": 1.0, "max_keypoint_distance": 0.0}


def test_one_keypoint_by_hand() -> None:
    """d = 1, s^2 = 100, k = 0.1: exp(-1 / 2) for one of four keypoints."""
    figures = _score(_moved(1.0))
    assert figures["oks_agreement"] == pytest.approx((3 + math.exp(-0.5)) / 4)
    assert figures["max_keypoint_distance"] == pytest.approx(0.1)
    assert _score(_moved(1.0), sigmas=0.1)["oks_agreement"] == pytest.approx((3 + math.exp(-0.125)) / 4)


def test_labels_leave_out_what_nobody_labelled() -> None:
    seen = np.array([[[0, 0, 0], [10, 0, 2], [0, 10, 1], [10, 10, 2]]], np.float32)
    figures = _score(_moved(3.0), {"keypoints": seen})
    assert figures["oks"] == figures["oks50"] == figures["expected_oks"] == 1.0
    seen[..., 2] = 1
    assert _score(_moved(3.0), {"keypoints": seen})["oks"] == pytest.approx((3 + math.exp(-4.5)) / 4)


def test_an_area_takes_the_place_of_the_box() -> None:
    figures = _score(_moved(2.0), {"scale": np.array([400.0])})
    assert figures["oks_agreement"] == pytest.approx((3 + math.exp(-0.5)) / 4)


def test_a_keypoint_that_is_no_number_is_as_far_off_as_can_be() -> None:
    figures = _score(_moved(math.nan))
    assert figures["oks_agreement"] == 0.75
    assert figures["max_keypoint_distance"] == math.inf


def test_seventeen_keypoints_are_judged_as_coco_does() -> None:
    """d = 1 at the nose (sigma 0.026) and an area of 100."""
    pose = np.stack([np.linspace(0, 10, 17), np.linspace(0, 10, 17)], axis=-1)[None]
    moved = pose.copy()
    moved[0, 0, 1] += 1.0
    figures = score("pose", [{"keypoints": moved}], [{"keypoints": pose}], {}, {})
    assert figures["oks_agreement"] == pytest.approx((16 + math.exp(-1 / (2 * 100 * 0.052**2))) / 17)


def test_a_pose_without_a_size_proves_nothing() -> None:
    flat = np.zeros((1, 4, 2))
    figures = score("pose", [{"keypoints": flat}], [{"keypoints": flat}], {}, {})
    assert all(math.isnan(value) for value in figures.values())


@pytest.mark.parametrize(
    ("actual", "labels", "options", "words"),
    [
        (np.zeros((1, 8)), {}, {}, "has the shape \\(1, 8\\); name another output"),
        (SQUARE, {"keypoints": np.zeros((1, 5, 2))}, {}, "the labels have 5 keypoints for each pose"),
        (SQUARE, {}, {"sigmas": 0.0}, "must be a number above 0, not 0.0"),
    ],
)
def test_what_is_no_pose_is_refused(
    actual: np.ndarray, labels: dict[str, np.ndarray], options: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        _score(actual, labels, **options)
