"""The table of task metrics is what the tasks compute, and what goals and docs know of them."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pytest

from assay.core.flow import Option
from assay.core.schedules import NAMES
from assay.errors import UsageError
from assay.judge.metric_registry import direction
from assay.task_metrics.registry import (
    OF_PROMPTS,
    TASK_METRICS,
    is_against_labels,
    task_inputs_reference,
    task_reference,
)
from assay.task_metrics.scoring import score

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


def test_the_labels_that_the_docs_name_are_those_that_a_task_reads() -> None:
    for task, metric in TASK_METRICS.items():
        sample, given = SAMPLES[task]
        named = {label.name for label in metric.labels}
        labels = {name: value for name, value in given.items() if name in named or name in OF_PROMPTS}
        figures = score(task, [sample], [sample], labels, {})
        assert [
            row.pattern
            for row in metric.figures
            if row.of_labels and not any(fnmatchcase(name, row.pattern) for name in figures)
        ] == []
    assert (
        "| `label_keypoints` (N, K, 2 or 3); a third number of 0: not labelled; `label_scale` (N)"
        in task_inputs_reference()
    )


def test_goals_know_the_direction() -> None:
    for metric in TASK_METRICS.values():
        for row in metric.figures:
            assert direction(f"task.{row.pattern.replace('*', '1')}") == row.worse
    assert "| `transcription` | `task.word_error_rate` | - | lower | yes |" in task_reference()


@pytest.mark.parametrize(
    ("task", "labels", "options", "said"),
    [
        (
            "ranking",
            ("label",),
            {},
            "task metric 'ranking' reads 'label_relevance' of the labels, and there is 'label': rename it",
        ),
        (
            "detection",
            ("label", "mask"),
            {},
            "reads 'label_boxes' or 'label_classes' of the labels, and there is 'label' or 'label_mask'",
        ),
        (
            "regression",
            ("target",),
            {"label": "price"},
            "reads 'label_price' of the labels, and there is 'label_target': rename it",
        ),
    ],
)
def test_labels_that_a_task_does_not_read_are_told(
    task: str, labels: tuple[str, ...], options: dict[str, Option], said: str
) -> None:
    sample, _ = SAMPLES[task]
    with pytest.raises(UsageError) as refused:
        score(task, [sample], [sample], dict.fromkeys(labels, np.zeros(1)), options)
    assert said in str(refused.value)
