"""A goal over a metric of a task that nobody asks for is a mistake of the request."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.task_goals import reject_unmeasured_tasks
from assay.core.case import Contract
from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.requirement import parse_requirement
from assay.pipeline.request import ModelRequest
from assay.testing.builders import make_flow

AGREEMENT = parse_requirement("task.top1_agreement >= 0.99")


def wanted(name: str = "digits", task_metric: str | None = None) -> ModelRequest:
    return ModelRequest(
        path=Path("digits.onnx"), flows=(make_flow(),), name=name, contract=Contract(task_metric=task_metric)
    )


@pytest.mark.parametrize(
    ("goal", "listed", "sentence"),
    [
        (
            AGREEMENT,
            False,
            "--require 'task.top1_agreement >= 0.99' needs a task metric: add --task-metric classification",
        ),
        (
            Goal("task.top1_agreement", min=0.99),
            True,
            "the goal over task.top1_agreement needs a task metric: add task-metric = \"classification\" to model 'digits'",
        ),
    ],
)
def test_no_task_metric(goal: Goal, listed: bool, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        reject_unmeasured_tasks([goal], [wanted()], listed=listed)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("goal", "model"),
    [
        (AGREEMENT, wanted(task_metric="classification")),
        (AGREEMENT, wanted(task_metric="detection")),  # the verdict says which one it needs
        (Goal("task.top1_agreement", min=0.99, case="other"), wanted()),
        (Goal("task.top1_agreement", min=0.99, flow="other"), wanted()),
        (Goal("task.kl_max", max=0.01), wanted()),  # recorded of prompts by itself
        (Goal("task.score_of_nobody", min=0.5), wanted()),
        (Goal("cosine", min=0.99), wanted()),
    ],
)
def test_taken(goal: Goal, model: ModelRequest) -> None:
    reject_unmeasured_tasks([goal], [model], listed=False)
