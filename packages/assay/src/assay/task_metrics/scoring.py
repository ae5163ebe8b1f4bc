"""A task metric computed; what it cannot be computed from is said, and no engine is blamed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import AssayError, UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.registry import OF_PROMPTS, TASK_METRICS, TaskMetric, check_task, label_name


def score(
    task: str,
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """The metrics of that task. Raises UsageError for what the task cannot be computed from."""
    check_task(task, options)
    _check_labels(TASK_METRICS[task], labels, options)
    metric = TASK_METRICS[task]
    try:
        return metric.score(actual, expected, labels, options)
    except UsageError:
        raise
    except Exception:
        _check_alone(metric, expected, labels, options)
        raise


def _check_alone(
    task: TaskMetric, expected: Sequence[Tensors], labels: Mapping[str, Tensor], options: Mapping[str, Option]
) -> None:
    """No engine is to blame where the reference's own answers cannot be scored by these labels, either."""
    try:
        task.score(expected, expected, labels, options)
    except Exception as error:
        raise UsageError(
            noted(
                TaskMetricCode.NOT_SCORED,
                task=task.name,
                labels=tuple(map(label_name, labels)),
                shapes=tuple(", ".join(map(str, array.shape)) for array in labels.values()),
                error=error.reason if isinstance(error, AssayError) else str(error),
            )
        ) from error


def _check_labels(task: TaskMetric, labels: Mapping[str, Tensor], options: Mapping[str, Option]) -> None:
    """Labels of which the task reads none are a mistake in a name, and one of two says nothing; those that prompts bring are nobody's."""
    read = [str(options.get(label.option, label.name)) for label in task.labels]
    if labels and not OF_PROMPTS & labels.keys() and not any(name in labels for name in read):
        given, wanted = (tuple(map(label_name, names)) for names in (labels, read))
        raise UsageError(noted(TaskMetricCode.LABELS_NOT_READ, task=task.name, read=wanted, given=given))
    needed = [str(options.get(label.option, label.name)) for label in task.labels if not label.optional]
    lacking = [label_name(name) for name in needed if name not in labels]
    if 0 < len(lacking) < len(needed):
        raise UsageError(noted(TaskMetricCode.LABEL_LACKING, task=task.name, lacking=lacking[0]))
