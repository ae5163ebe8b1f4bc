"""The table of task metrics is what the tasks compute, and what goals and docs know of them."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pytest

from assay.core.schedules import NAMES
from assay.judge.metric_registry import direction
from assay.task_metrics.registry import TASK_METRICS, is_against_labels, score, task_reference

LOGITS = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype(np.float32)
BOXES = {"boxes": np.array([[[0, 0, 10, 10.0]]]), "scores": np.array([[0.9]]), "classes": np.array([[1]])}
POSE = np.random.default_rng(1).normal(size=(2, 17, 3)) * 50 + 100
ONE_PROMPT_TWICE = {
    "schedule": np.array([NAMES.index("batch")]),
    "prefix": np.array([[[0, 1, 2, 3]] * 2]),
    "next_token": np.array([[[1, 2, 3, -1]] * 2]),
}
SKETCHED = ("kl_mean_least", "kl_max_least")
"""Of a golden of sketches, which `worker.verify.sketched` judges."""
SAMPLES = {
    "classification": ({"logits": LOGITS[:, :, 0, 0]}, {"label": np.array([0, 1])}),
    "detection": (BOXES, {"boxes": BOXES["boxes"], "classes": BOXES["classes"]}),
    "embedding": ({"vectors": LOGITS[0, :, 0]}, {"label": np.array([0, 1, 0])}),
    "language": ({"logits": LOGITS[:, 0]}, ONE_PROMPT_TWICE),
    "pose": ({"keypoints": POSE}, {"keypoints": POSE}),
    "ranking": ({"scores": LOGITS[:, :, 0, 0]}, {"relevance": np.array([[0, 1, 2], [1, 0, 0]])}),
    "regression": ({"price": LOGITS[:, 0, 0]}, {"target": LOGITS[:, 0, 0]}),
    "segmentation": ({"logits": LOGITS}, {"mask": LOGITS.argmax(axis=1)}),
    "transcription": ({"logits": LOGITS[:, 0]}, {"tokens": np.array([[1, 2], [2, 3]])}),
}


@pytest.mark.parametrize("task", TASK_METRICS)
def test_each_figure_has_its_row_and_each_row_a_figure(task: str) -> None:
    sample, labels = SAMPLES[task]
    figures = score(task, [sample], [sample], labels, {})
    rows = TASK_METRICS[task].figures
    assert [name for name in figures if not any(fnmatchcase(name, row.pattern) for row in rows)] == []
    given = [*figures, *(SKETCHED if task == "language" else ())]
    assert [row.pattern for row in rows if not any(fnmatchcase(name, row.pattern) for name in given)] == []


@pytest.mark.parametrize("task", TASK_METRICS)
def test_what_needs_no_labels_is_there_without_them(task: str) -> None:
    sample, _ = SAMPLES[task]
    figures = score(task, [sample], [sample], {}, {})
    assert figures
    assert not any(is_against_labels(name) for name in figures)


def test_goals_know_the_direction() -> None:
    for one in TASK_METRICS.values():
        for row in one.figures:
            assert direction(f"task.{row.pattern.replace('*', '1')}") == row.worse
    assert "| `transcription` | `task.word_error_rate` | - | lower | yes |" in task_reference()
