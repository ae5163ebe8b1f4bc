"""Which task metrics need no reference answers."""

from __future__ import annotations

from fnmatch import fnmatchcase

AGAINST_LABELS = ("top*_accuracy", "*_error_rate", "map50*", "mean_iou", "iou_class*")
"""Metrics that compare the engine's answers with labels: they count where there is no reference, or one that is in doubt."""


def is_against_labels(metric: str) -> bool:
    """Of a metric without its `task.`; what is `expected_...` is of the reference and not of the engine."""
    return not metric.startswith("expected_") and any(fnmatchcase(metric, pattern) for pattern in AGAINST_LABELS)
