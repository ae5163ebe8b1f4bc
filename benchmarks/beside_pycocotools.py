"""Scenes with what pycocotools makes of them, for `tests/unit/task_metrics/test_tasks_beside_coco.py`.

python benchmarks/beside_pycocotools.py tests/unit/task_metrics/coco.json

It needs numpy and pycocotools alone, in an environment of its own: Assay does not use pycocotools.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

SCENES = (
    {"seed": 1, "images": 3, "labels": 4, "found": 6, "classes": 2},
    {"seed": 2, "images": 5, "labels": 3, "found": 8, "classes": 4},
    {"seed": 3, "images": 2, "labels": 9, "found": 9, "classes": 1},
    {"seed": 4, "images": 1, "labels": 60, "found": 140, "classes": 1},  # more than the 100 that count
    {"seed": 16, "images": 2, "labels": 12, "found": 20, "classes": 1, "grid": 8},  # many equal overlaps
)
Box = list[int]


def main(output: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        made = {
            "pycocotools": metadata.version("pycocotools"),
            "scenes": [scene(**settings) for settings in SCENES],
            "poses": [poses(seed) for seed in (5, 6)],
        }
    output.write_text(json.dumps(made, separators=(",", ":")).replace("},{", "},\n{") + "\n")


def scene(seed: int, images: int, labels: int, detections: int, classes: int, grid: int = 1) -> dict[str, Any]:
    """Found objects lie near labelled ones, with many equal scores, some far off, and some of a class that nobody labelled."""
    random = np.random.default_rng(seed)
    corners = random.integers(0, 60, (images, labels, 2))
    truth = np.concatenate([corners, corners + random.integers(8, 40, (images, labels, 2))], axis=-1)
    kinds = random.integers(0, classes, (images, labels))
    kinds[0, -1] = -1  # padding
    chosen = random.integers(0, labels, (images, detections))
    near = np.take_along_axis(truth, chosen[..., None], axis=1) + random.integers(-4, 5, (images, detections, 4))
    truth, near = truth // grid * grid, near // grid * grid
    truth[..., 2:], near[..., 2:] = (np.maximum(boxes[..., 2:], boxes[..., :2] + grid) for boxes in (truth, near))
    ours = np.take_along_axis(kinds, chosen, axis=1)
    ours = np.where(random.random(ours.shape) < 0.2, random.integers(0, classes + 1, ours.shape), np.maximum(ours, 0))
    scores = random.integers(1, 20, (images, detections)) / 20
    made = {"boxes": near, "scores": scores, "classes": ours, "label_boxes": truth, "label_classes": kinds}
    precision = boxes_by_coco(**made)
    return {**{name: value.tolist() for name, value in made.items()}, "map50_95": precision[0], "map50": precision[1]}


def boxes_by_coco(boxes: Any, scores: Any, classes: Any, label_boxes: Any, label_classes: Any) -> tuple[float, float]:
    """AP and AP at 0.5, of `COCOeval.stats`."""
    truth = [
        {"id": number, "image_id": image, "category_id": int(kind), "bbox": xywh(box), "area": area(box), "iscrowd": 0}
        for number, (image, kind, box) in enumerate(objects(label_classes, label_boxes), start=1)
        if kind >= 0
    ]
    detections = [
        {"image_id": image, "category_id": int(kind), "bbox": xywh(box), "score": float(score)}
        for (image, kind, box), score in zip(objects(classes, boxes), scores.ravel(), strict=True)
    ]
    evaluated = evaluate(truth, detections, len(boxes), int(max(classes.max(), label_classes.max())), "bbox")
    return float(evaluated.stats[0]), float(evaluated.stats[1])


def poses(seed: int) -> dict[str, Any]:
    """One person an image, with 17 keypoints of which some are not labelled."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 100, (6, 17, 3))
    labels[..., 2] = random.integers(0, 3, (6, 17))
    keypoints = labels[..., :2] + random.integers(-8, 9, (6, 17, 2))
    areas = random.integers(500, 9000, 6)
    truth = [
        {
            "id": image + 1, "image_id": image, "category_id": 1, "area": int(areas[image]), "bbox": [0, 0, 100, 100], "iscrowd": 0,
            "keypoints": labels[image].ravel().tolist(), "num_keypoints": int((labels[image, :, 2] > 0).sum()),
        }
        for image in range(6)
    ]  # fmt: skip
    ours = [
        {"image_id": image, "category_id": 1, "score": 1.0, "keypoints": [*np.insert(keypoints[image], 2, 1, axis=1).ravel().tolist()]}
        for image in range(6)
    ]  # fmt: skip
    evaluated = evaluate(truth, ours, 6, 1, "keypoints")
    similar = [float(evaluated.ious[image, 1][0, 0]) for image in range(6)]
    return {"keypoints": keypoints.tolist(), "labels": labels.tolist(), "areas": areas.tolist(), "oks": similar}


def evaluate(
    truth: list[dict[str, Any]], detections: list[dict[str, Any]], images: int, last: int, kind: str
) -> COCOeval:
    labelled = COCO()
    labelled.dataset = {
        "info": {}, "images": [{"id": image} for image in range(images)], "annotations": truth,
        "categories": [{"id": number} for number in range(last + 1)],
    }  # fmt: skip
    labelled.createIndex()
    evaluated = COCOeval(labelled, labelled.loadRes(detections), kind)
    evaluated.evaluate()
    evaluated.accumulate()
    evaluated.summarize()
    return evaluated


def objects(kinds: Any, boxes: Any) -> list[tuple[int, int, Any]]:
    return [(image, kind, box) for image, row in enumerate(kinds) for kind, box in zip(row, boxes[image], strict=True)]


def xywh(box: Any) -> Box:
    return [int(box[0]), int(box[1]), int(box[2] - box[0]), int(box[3] - box[1])]


def area(box: Any) -> int:
    return int((box[2] - box[0]) * (box[3] - box[1]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
