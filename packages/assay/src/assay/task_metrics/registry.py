"""The tasks by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from assay.core.flow import Option
from assay.errors import UnknownName
from assay.ports import Tensor, Tensors
from assay.task_metrics import classification, detection, segmentation, transcription

Score = Callable[[Sequence[Tensors], Sequence[Tensors], Mapping[str, Tensor], Mapping[str, Option]], dict[str, float]]

_TASKS: dict[str, tuple[Score, frozenset[str]]] = {
    "classification": (classification.classification, classification.OPTIONS),
    "detection": (detection.detection, detection.OPTIONS),
    "segmentation": (segmentation.segmentation, segmentation.OPTIONS),
    "transcription": (transcription.transcription, transcription.OPTIONS),
}


def check_task(task: str, options: Mapping[str, Option]) -> None:
    """Raises UnknownName for a task or an option that there is not."""
    if task not in _TASKS:
        raise UnknownName(f"there is no task {task!r}; choose one of {', '.join(_TASKS)}")
    for name in options:
        if name not in _TASKS[task][1]:
            near = difflib.get_close_matches(name, _TASKS[task][1], n=1)
            told = f"perhaps you mean {near[0]!r}" if near else f"it has {', '.join(sorted(_TASKS[task][1]))}"
            raise UnknownName(f"task {task!r} has no option {name!r}; {told}")


def score(
    task: str,
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """The figures of that task. Raises UsageError for what the task cannot be computed from."""
    check_task(task, options)
    return _TASKS[task][0](actual, expected, labels, options)
