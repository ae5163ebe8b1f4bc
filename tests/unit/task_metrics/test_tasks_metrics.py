"""Task metrics on answers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.task_metrics.detection import iou
from assay.task_metrics.scoring import score
from assay.task_metrics.segmentation import segmentation


def _logits(*rows: list[float]) -> list[dict[str, np.ndarray]]:
    return [{"logits": np.array([row], np.float32)} for row in rows]


def test_classification_by_hand() -> None:
    expected = _logits([2, 1, 0], [0, 3, 1], [1, 0, 5], [4, 0, 0])
    actual = _logits([2, 1, 0], [3, 0, 1], [1, 0, 5], [4, 0, 0])
    figures = score("classification", actual, expected, {"label": np.array([0, 1, 2, 1])}, {})
    assert figures["top1_agreement"] == 0.75
    assert figures["top1_accuracy"] == 0.5
    assert figures["expected_top1_accuracy"] == 0.75
    assert figures["top5_agreement"] == 1.0
    assert figures["kl_divergence"] > 0.1


@given(st.lists(st.lists(st.floats(-50, 50), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_same_logits_diverge_by_nothing(rows: list[list[float]]) -> None:
    figures = score("classification", _logits(*rows), _logits(*rows), {}, {})
    assert figures["top1_agreement"] == 1.0
    assert figures["kl_divergence"] == pytest.approx(0, abs=1e-12)


def _objects(boxes: list[list[float]], scores: list[float], classes: list[int]) -> list[dict[str, np.ndarray]]:
    return [
        {
            "boxes": np.array([boxes], np.float32),
            "scores": np.array([scores], np.float32),
            "classes": np.array([classes], np.int64),
        }
    ]


LABELS = {"boxes": np.array([[[0, 0, 10, 10], [20, 20, 30, 30]]], np.float32), "classes": np.array([[1, 2]])}


def test_iou_by_hand() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 0, 0]], float)
    other = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [20, 20, 30, 30], [0, 0, 0, 0]], float)
    assert iou(boxes, other)[0] == pytest.approx([1, 1 / 3, 0, 0])
    assert iou(boxes, other)[1] == pytest.approx([0, 0, 0, 0])


def test_detection_by_hand() -> None:
    right = _objects([[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 1, 1]], [0.9, 0.8, 0.0], [1, 2, 5])
    figures = score("detection", right, right, LABELS, {})
    assert (figures["map50"], figures["map50_95"], figures["matched"]) == (1.0, 1.0, 1.0)
    assert figures["max_confidence_difference"] == 0
    wrong_class = _objects([[0, 0, 10, 10], [20, 20, 30, 30]], [0.9, 0.8], [1, 3])
    figures = score("detection", wrong_class, right, LABELS, {})
    assert (figures["map50"], figures["matched"], figures["unmatched_actual"]) == (0.5, 0.5, 0.5)
    shifted = _objects([[0, 0, 10, 10], [22, 20, 32, 30]], [0.9, 0.7], [1, 2])
    figures = score("detection", shifted, right, LABELS, {})
    assert figures["map50"] == 1.0
    assert figures["map50_95"] < 0.8
    assert figures["max_confidence_difference"] == pytest.approx(0.1)


def test_a_false_alarm_above_the_hit_halves_the_precision() -> None:
    alarm = _objects([[50, 50, 60, 60], [0, 0, 10, 10], [20, 20, 30, 30]], [0.95, 0.9, 0.8], [1, 1, 2])
    assert score("detection", alarm, alarm, LABELS, {})["map50"] == pytest.approx(0.75)


def test_no_objects_at_all_are_no_agreement() -> None:
    right = _objects([[0, 0, 10, 10]], [0.9], [1])
    none = _objects([[0, 0, 10, 10]], [0.0], [1])
    figures = score("detection", none, right, LABELS, {})
    assert (figures["matched"], figures["map50"]) == (0.0, 0.0)
    assert math.isnan(score("detection", none, none, {}, {})["matched"])


def test_segmentation_by_hand() -> None:
    expected = np.zeros((1, 3, 2, 2), np.float32)
    expected[0, 0, 0] = 1
    expected[0, 1, 1] = 1
    actual = expected.copy()
    actual[0, :, 1, 1] = [1, 0, 0]
    figures = score(
        "segmentation", [{"logits": actual}], [{"logits": expected}], {"mask": np.array([[[0, 0], [1, 1]]])}, {}
    )
    assert figures["pixel_agreement"] == 0.75
    assert figures["iou_class0"] == pytest.approx(2 / 3)
    assert figures["iou_class1"] == 0.5
    assert figures["mean_iou"] == pytest.approx((2 / 3 + 0.5) / 2)
    assert "iou_class2" not in figures
    assert figures["psnr_db"] == pytest.approx(10 * math.log10(1 / (2 / 12)))


@pytest.mark.parametrize("garbage", [200_000, 2**40, 2**62])
def test_one_pixel_of_a_garbage_class_costs_no_more_than_another(garbage: int) -> None:
    expected = np.array([[[0, 0], [1, 1]]], np.int64)
    actual = np.array([[[0, 0], [1, garbage]]], np.int64)
    figures = score("segmentation", [{"y": actual}], [{"y": expected}], {"mask": expected}, {})
    by_name = {name: value for name, value in figures.items() if name.startswith("iou_class")}
    assert by_name == {"iou_class0": 1.0, "iou_class1": 0.5, f"iou_class{garbage}": 0.0}
    assert figures["mean_iou"] == figures["mean_iou_agreement"] == 0.5


def test_a_map_of_garbage_has_not_a_figure_for_each_pixel() -> None:
    expected = np.zeros((1, 512, 512), np.int64)
    actual = np.arange(expected.size).reshape(expected.shape)
    figures = score("segmentation", [{"y": actual}], [{"y": expected}], {}, {})
    assert figures["iou_agreement_class0"] == figures["pixel_agreement"] == 1 / expected.size
    assert figures["mean_iou_agreement"] == pytest.approx(1 / expected.size**2)
    assert len(figures) == 2 + 4096


@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        ("poetry", {}, "classification"),
        ("classification", {"outputs": "y"}, "'output'"),
        ("classification", {"output": "y"}, "'y'"),
    ],
)
def test_what_cannot_be_scored_is_said(task: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        score(task, _logits([1, 2]), _logits([1, 2]), {}, options)


def test_labels_of_another_count_are_refused() -> None:
    with pytest.raises(UsageError) as refused:
        score("classification", _logits([1, 2]), _logits([1, 2]), {"label": np.array([0, 1])}, {})
    assert str(refused.value) == (
        "label 'label' has 2 entries, and the outputs have 1 rows; give one for each row, in their order"
    )


def test_a_call_of_several_rows_brings_a_label_for_each() -> None:
    rows = [{"logits": np.eye(3, dtype=np.float32)}]
    assert score("classification", rows, rows, {"label": np.array([[0, 1, 1]])}, {})["top1_accuracy"] == pytest.approx(
        2 / 3
    )


def test_classes_may_come_in_any_usual_layout() -> None:
    classes = np.random.default_rng(3).integers(0, 4, (2, 6, 5))
    wrong = classes.copy()
    wrong[0, 0, 0] = (classes[0, 0, 0] + 1) % 4
    shapes = [(2, 6, 5), (2, 1, 6, 5), (2, 6, 5, 1)]
    for shape, kind in [*((dims, np.int64) for dims in shapes), (shapes[0], np.float32)]:
        got, wanted = (array.reshape(shape).astype(kind) for array in (wrong, classes))
        figures = segmentation([{"map": got}], [{"map": wanted}], {"mask": classes}, {})
        assert figures["pixel_agreement"] == 59 / 60
        assert figures["mean_iou"] < 1
        assert {name for name in figures if name.startswith("iou_class")} == {f"iou_class{k}" for k in range(4)}
    broken = classes.astype(np.float32)
    broken[0, 0, :2] = np.nan, np.inf
    assert segmentation([{"map": broken}], [{"map": classes.astype(np.float32)}], {}, {})["pixel_agreement"] == 58 / 60


def test_one_channel_of_scores_needs_no_axis_for_it_and_a_mask_of_0_and_255_is_refused() -> None:
    scores = np.random.default_rng(4).normal(size=(2, 6, 5)).astype(np.float32)
    mask = (scores > 0).astype(np.uint8)
    assert segmentation([{"s": scores}], [{"s": scores}], {"mask": mask}, {"threshold": 0.0})["mean_iou"] == 1
    with pytest.raises(UsageError, match="write 1 for the foreground"):
        segmentation([{"s": -abs(scores)}], [{"s": scores}], {"mask": 255 * mask}, {"threshold": 0.0})
