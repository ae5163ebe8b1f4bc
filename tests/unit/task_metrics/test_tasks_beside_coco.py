"""Detection and poses beside what pycocotools made of the same numbers (`benchmarks/beside_pycocotools.py` wrote them down)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.task_metrics.scoring import score

RECORDED = json.loads(Path(__file__).with_name("coco.json").read_text(encoding="utf-8"))
OUTPUTS = ("boxes", "scores", "classes")


@pytest.mark.parametrize("scene", RECORDED["scenes"])
def test_mean_average_precision_is_that_of_coco(scene: dict[str, Any]) -> None:
    scenes = [{name: np.array(scene[name]) for name in OUTPUTS}]
    labels = {"boxes": np.array(scene["label_boxes"]), "classes": np.array(scene["label_classes"])}
    figures = score("detection", scenes, scenes, labels, {})
    assert 0.05 < scene["map50_95"] < scene["map50"] < 0.95
    assert [figures["map50"], figures["map50_95"]] == pytest.approx([scene["map50"], scene["map50_95"]], abs=1e-12)


@pytest.mark.parametrize("poses", RECORDED["poses"])
def test_keypoint_similarity_is_that_of_coco(poses: dict[str, Any]) -> None:
    for index, wanted in enumerate(poses["oks"]):
        keypoints, label, scale = (
            np.array(poses[name])[index : index + 1] for name in ("keypoints", "labels", "areas")
        )
        answers = [{"keypoints": keypoints.astype(np.float32)}]
        figures = score("pose", answers, answers, {"keypoints": label, "scale": scale}, {})
        assert 0.05 < wanted < 0.95
        assert figures["oks"] == pytest.approx(wanted, rel=1e-12)
