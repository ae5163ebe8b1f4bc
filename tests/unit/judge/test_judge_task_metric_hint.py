"""A goal over a metric of a task that was not recorded says what it needs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from assay.core.finding import Finding
from assay.core.job_base import Job
from assay.core.note import NoteCode, noted
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.judge import judge
from assay.testing.builders import make_job, make_result

NOBODY = noted(NoteCode.NO_REFERENCE, reason="nobody answers")


def reason(result: Result, metric: str, jobs: Mapping[str, Job] = {}) -> str:
    policy = Policy(goals=(Goal(metric, min=0.9),))
    judgement = judge([result], policy, planned=[result.job_key], today=datetime.date(2026, 11, 21), jobs_by_key=jobs)
    return judgement.verdicts[0].reason


@pytest.mark.parametrize(
    ("recorded", "asked", "hint"),
    [
        ("top1_agreement", "top1_accuracy", "beside the inputs as 'label', one for each sample"),
        ("rank_agreement", "ndcg10", "there are no labels: lay them beside the inputs as 'label_relevance', one for"),
        ("matched", "map50", "as 'label_boxes' and 'label_classes', one for each sample"),
        ("oks_agreement", "oks", "as 'label_keypoints', one for each sample"),
        ("iou_class0", "iou_class1", "metric not recorded: task.iou_class1; the nearest are task.iou_class0"),
        (
            "",
            "ndcg10",
            "metric not recorded: task.ndcg10; there are no labels: lay them beside the inputs as 'label_relevance'",
        ),
    ],
)
def test_a_metric_of_a_task_that_is_not_there_says_what_it_needs(recorded: str, asked: str, hint: str) -> None:
    result = make_result(task_metrics={recorded: 1.0} if recorded else {})
    assert hint in reason(result, f"task.{asked}")


@pytest.mark.parametrize(
    ("given", "wanted", "changes", "hint"),
    [
        (
            None,
            "ndcg10",
            {},
            "metric not recorded: task.ndcg10; no task metric was asked for: give --task-metric ranking",
        ),
        (
            "classification",
            "ndcg10",
            {},
            "the task metric of this case is 'classification': give --task-metric ranking",
        ),
        (
            "ranking",
            "ndcg10",
            {"unproven": NOBODY},
            "there are no labels: lay them beside the inputs as 'label_relevance'",
        ),
        (
            "ranking",
            "rank_agreement",
            {"unproven": NOBODY},
            "it compares with a reference, and there is none: give its outputs with --golden",
        ),
        (
            "ranking",
            "rank_agreement",
            {"findings": (Finding("shape", "y"),)},
            "it was not computed, for the answers are wrong in another way than by their values (shape): correct that first",
        ),
    ],
)
def test_a_task_metric_that_was_asked_for_is_not_asked_for_again(
    given: str | None, wanted: str, changes: dict[str, Any], hint: str
) -> None:
    result = make_result(task_metrics={}, **changes)
    job = make_job()
    job = replace(job, case=replace(job.case, contract=replace(job.case.contract, task_metric=given)))
    said = reason(result, f"task.{wanted}", {result.job_key: job})
    assert hint in said
    assert ("no task metric was asked for" in said) == (given is None)
