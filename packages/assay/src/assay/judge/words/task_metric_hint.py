"""Why a metric of a task was not recorded, and what to do about it."""

from __future__ import annotations

from assay.core.finding import kept_from_scoring
from assay.core.result_parts import LossResult
from assay.judge.words.advice import ConfiguredJob
from assay.task_metrics.registry import TaskMetric, figures_of, is_against_labels, label_name, task_of


def task_metric_hint(name: str, result: LossResult, configured: ConfiguredJob | None) -> str:
    """What the metric `name` (without its `task.`) needs that there was not; "" where that is not known."""
    task = task_of(name)
    if task is None:
        return ""
    chosen = configured.job.case.contract.task_metric if configured is not None else None
    named = f"--task-metric {task.name}"
    if chosen is not None and chosen != task.name and not figures_of(task, result.task_metrics):
        return f"the task metric of this case is {chosen!r}: give {named}"
    if configured is not None and chosen is None and not result.task_metrics:
        return f"no task metric was asked for: give {named}"
    if defects := kept_from_scoring(result.findings):
        kinds = ", ".join(defects)
        return f"it was not computed, for the answers are wrong in another way than by their values ({kinds}): correct that first"
    return _lacking(name, task, result) or ("" if result.task_metrics or chosen else f"give {named}")


def _lacking(name: str, task: TaskMetric, result: LossResult) -> str:
    """Labels, or a reference."""
    if is_against_labels(name):
        if any(map(is_against_labels, result.task_metrics)):
            return ""
        label_names = " and ".join(f"'{label_name(label.name)}'" for label in task.labels if not label.optional)
        return f"there are no labels: lay them beside the inputs as {label_names}, one for each sample"
    if result.unproven is not None:
        return "it compares with a reference, and there is none: give its outputs with --golden, or ask for a metric of labels"
    return ""
