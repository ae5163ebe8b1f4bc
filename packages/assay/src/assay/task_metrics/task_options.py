"""What the task metrics have in common: samples of one output joined, options read, labels found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors


def option(options: Mapping[str, Option], name: str, default: str) -> str:
    """An option that names something."""
    return str(options.get(name, default))


def number(options: Mapping[str, Option], name: str) -> float | None:
    """An option that is a number; None where it is not given."""
    return float(options[name]) if name in options else None


def output_of(options: Mapping[str, Option], samples: Sequence[Tensors]) -> str:
    """The output that the task reads: option `output`, else "logits", or the only one that there is."""
    names = list(samples[0]) if samples else []
    only = names[0] if len(names) == 1 else "logits"
    return option(options, "output", "logits" if "logits" in names else only)


def joined(samples: Sequence[Tensors], name: str) -> Tensor:
    """One output of all samples, joined on its batch axis. Raises UsageError where the model has no such output."""
    if not samples or name not in samples[0]:
        raise UsageError(
            noted(TaskMetricCode.NO_SUCH_OUTPUT, output=name, known=tuple(samples[0]) if samples else ("none",))
        )
    return np.concatenate([np.asarray(sample[name]) for sample in samples])


def label(labels: Mapping[str, Tensor], name: str, count: int) -> Tensor | None:
    """The labels of that name, one for each of `count` rows of the outputs, or None. A call of several rows (a free batch) brings
    its labels as one entry of as many. Raises UsageError where there are not as many as rows."""
    array = labels.get(name)
    if array is None or len(array) == count:
        return array
    rows = array.reshape(-1, *array.shape[2:]) if array.ndim > 1 else array
    if len(rows) != count:
        raise UsageError(noted(TaskMetricCode.LABEL_ENTRIES, label=name, entries=len(rows), rows=count))
    return rows


def one_each(truth: Tensor, name: str, count: int) -> Tensor:
    """Labels that are one number for each row. Raises UsageError for others."""
    if truth.size != count:
        raise UsageError(noted(TaskMetricCode.LABEL_SHAPE, label=name, shape=truth.shape, rows=count))
    return truth.reshape(-1)


def check_classes(known: Tensor, name: str, count: int) -> None:
    """Raises UsageError where a label is none of the `count` classes (or tokens): it would count as a wrong answer, in silence."""
    values = np.asarray(known, np.float64)
    odd = values[~((values >= 0) & (values < count) & (values == np.floor(values)))]
    if odd.size:
        raise UsageError(
            noted(TaskMetricCode.LABEL_NO_CLASS, label=name, value=float(odd.flat[0]), classes=count, last=count - 1)
        )
