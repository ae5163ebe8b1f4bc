"""Figures of a task that each class has: a row for a class."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.task_metrics.registry import TASK_METRICS

_FIGURES = {
    figure.pattern.removesuffix("_class*")
    for metric in TASK_METRICS.values()
    for figure in metric.figures
    if figure.pattern.endswith("_class*")
}
_OF_A_CLASS = re.compile(rf"(?P<figure>{'|'.join(map(re.escape, sorted(_FIGURES)))})_class(?P<number>0|[1-9][0-9]*)")
"""Of our own tasks alone: what a plug-in's name means is its own affair."""


def by_class(metrics: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...], dict[int, dict[str, float]]]:
    """The figures of the whole, the names of those that classes have, and these by class. `iou_class7` is `iou` of class 7."""
    whole: dict[str, float] = {}
    names: dict[str, None] = {}
    classes: dict[int, dict[str, float]] = {}
    for name, value in metrics.items():
        if match := _OF_A_CLASS.fullmatch(name):
            names[match["figure"]] = None
            classes.setdefault(int(match["number"]), {})[match["figure"]] = value
        else:
            whole[name] = value
    return whole, tuple(names), dict(sorted(classes.items()))
