"""Goals over metrics of a task that nobody asks for: a mistake of the request, and no fault of a flow."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.expectations import matches
from assay.judge.requirement import LIMIT
from assay.models.sources import source_name
from assay.pipeline.request import ModelRequest
from assay.task_metrics.registry import task_of

_PREFIX = "task."
_BY_ITSELF = "language"
"""The task whose metrics are recorded of prompts without being asked for."""


def reject_unmeasured_tasks(goals: Sequence[Goal], models: Sequence[ModelRequest], *, listed: bool) -> None:
    """Raises UsageError for a goal over a metric of a task where a model that it is about has no task metric. `listed` says that the models
    are those of assay.toml."""
    for goal in goals:
        task = task_of(goal.metric.removeprefix(_PREFIX)) if goal.metric.startswith(_PREFIX) else None
        if task is None or task.name == _BY_ITSELF:
            continue
        for model in models:
            if model.contract.task_metric is None and _is_about(goal, model):
                todo = (
                    f"task-metric = \"{task.name}\" to model '{_name(model)}'"
                    if listed
                    else f"--task-metric {task.name}"
                )
                raise UsageError(f"{_demand(goal)} needs a task metric: add {todo}")


def _is_about(goal: Goal, model: ModelRequest) -> bool:
    return matches(_name(model), goal.case) and any(matches(flow.name, goal.flow) for flow in model.flows)


def _name(model: ModelRequest) -> str:
    return model.name or source_name(model.path)


def _demand(goal: Goal) -> str:
    """`--require 'task.top1_agreement >= 0.99'`, or where a file states it."""
    for operator, limit in LIMIT.items():
        if goal.option and limit in goal.limits:
            return f"{goal.option} '{goal.metric} {operator} {goal.limits[limit]:.15g}'"
    return f"the goal over {goal.metric}"
