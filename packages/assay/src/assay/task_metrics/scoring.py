"""A task metric computed; what it cannot be computed from is said, and no engine is blamed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.flow import Option
from assay.errors import UsageError
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
    one = TASK_METRICS[task]
    try:
        return one.score(actual, expected, labels, options)
    except UsageError:
        raise
    except Exception:
        _check_alone(one, expected, labels, options)
        raise


def _check_alone(
    task: TaskMetric, expected: Sequence[Tensors], labels: Mapping[str, Tensor], options: Mapping[str, Option]
) -> None:
    """No engine is to blame where the reference's own answers cannot be scored by these labels, either."""
    try:
        task.score(expected, expected, labels, options)
    except Exception as error:
        shapes = "".join(f", '{label_name(name)}' of shape {list(array.shape)}" for name, array in labels.items())
        wanted = " and ".join(f"'{label_name(one.name)}' {one.meaning}" for one in task.labels)
        raise UsageError(
            f"task metric {task.name!r} cannot be computed, not even of the reference's own answers{shapes}: {error}; it reads "
            f"{task.reads}, and of labels {wanted}"
        ) from error


def _check_labels(task: TaskMetric, labels: Mapping[str, Tensor], options: Mapping[str, Option]) -> None:
    """Labels of which the task reads none are a mistake in a name, and one of two says nothing; those that prompts bring are nobody's."""
    read = [str(options.get(one.option, one.name)) for one in task.labels]
    if labels and not OF_PROMPTS & labels.keys() and not any(name in labels for name in read):
        given, wanted = (" or ".join(f"'{label_name(name)}'" for name in names) for names in (labels, read))
        raise UsageError(f"task metric {task.name!r} reads {wanted} of the labels, and there is {given}: rename it")
    needed = [str(options.get(one.option, one.name)) for one in task.labels if not one.optional]
    lacking = [label_name(name) for name in needed if name not in labels]
    if 0 < len(lacking) < len(needed):
        raise UsageError(
            f"task metric {task.name!r} lacks the label '{lacking[0]}' beside the others: give one for each sample"
        )
