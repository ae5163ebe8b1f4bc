"""Labels and options that a task cannot use are the user's mistake, and are said to be; what an engine answers is not."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.flow import Option
from assay.errors import UsageError
from assay.task_metrics.registry import check_task
from assay.task_metrics.scoring import score

LOGITS = {"logits": np.eye(3, dtype=np.float32)}
FRAMES = {"logits": np.eye(3, dtype=np.float32)[None]}
BOXES = {"boxes": np.array([[[0, 0, 10, 10.0]]]), "scores": np.array([[0.9]]), "classes": np.array([[1]])}


@pytest.mark.parametrize(
    ("task", "sample", "labels", "said"),
    [
        ("classification", LOGITS, {"label": [0, 1, 3]}, "label 'label' holds 3, which is none of the 3 classes"),
        ("classification", LOGITS, {"label": [0, 1, -1]}, "holds -1, which is none of the 3 classes"),
        ("classification", LOGITS, {"label": [0, 1, 0.5]}, "holds 0.5, which is none"),
        ("classification", LOGITS, {"label": np.eye(3)}, "label 'label' has shape [3, 3], and the outputs have 3 rows"),
        ("embedding", LOGITS, {"label": np.eye(3)}, "label 'label' has shape [3, 3]"),
        ("language", FRAMES, {"next_token": [[[0, 1, 3]]]}, "label 'next_token' holds 3"),
        ("language", FRAMES, {"next_token": [0]}, "cannot be computed, not even of the reference's own answers"),
        ("transcription", FRAMES, {"tokens": [[1, 7]]}, "label 'tokens' holds 7"),
        ("ranking", LOGITS, {"relevance": [[0, 1, -1]] * 3}, "a relevance below 0"),
        ("detection", BOXES, {"boxes": np.zeros((1, 1, 4))}, "lacks the label 'label_classes' beside the others"),
        (
            "detection",
            BOXES,
            {"boxes": np.zeros((1, 4)), "classes": np.ones((1, 1))},
            "'label_boxes' of shape [1, 4], 'label_classes' of shape [1, 1]: ",
        ),
    ],
)
def test_a_label_that_cannot_be_right_is_refused(
    task: str, sample: dict[str, np.ndarray], labels: dict[str, object], said: str
) -> None:
    known = {name: np.asarray(value) for name, value in labels.items()}
    with pytest.raises(UsageError) as refused:
        score(task, [sample], [sample], known, {})
    assert said in str(refused.value)


def test_an_answer_that_the_task_cannot_read_is_no_mistake_of_the_user() -> None:
    with pytest.raises(ValueError, match="shape"):
        score("classification", [{"logits": np.eye(4, dtype=np.float32)}], [LOGITS], {"label": np.arange(3)}, {})


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("classification", {"scores": "softmax"}, "'scores' of task 'classification' must be logits or probabilities"),
        ("detection", {"format": "yxyx"}, "must be xyxy, xywh or cxcywh, not 'yxyx'"),
        ("detection", {"threshold": "high"}, "'threshold' of task 'detection' must be a number, not 'high'"),
        ("pose", {"sigmas": -1}, "must be a number above 0, not -1"),
        ("ranking", {"gains": "log"}, "must be exponential or linear, not 'log'"),
        ("transcription", {"blank": "x"}, "must be the number of a token, not 'x'"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_known_before_a_run(
    task: str, options: dict[str, Option], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        check_task(task, options)
    assert said in str(refused.value)
