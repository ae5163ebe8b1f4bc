"""The metrics that a policy speaks of, compared with the outputs that the models have: before anything runs."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from assay.core.case import Case
from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.metric_registry import AGAINST_FLOAT, RECORDED, TASK_FIGURES


def check_goals(goals: Sequence[Goal], cases: Sequence[Case]) -> None:
    """Raises UsageError for a metric of an output (`logits.max_abs`) where no model that the goal is about has that output.
    A goal about cases that are not here today is left alone."""
    for goal in goals:
        outputs = [one.name for case in cases if fnmatchcase(case.name, goal.case) for one in case.model.outputs]
        metric = goal.metric.removeprefix(AGAINST_FLOAT)
        if not outputs or "." not in metric or _listed(metric):
            continue
        if not any(metric.startswith(f"{name}.") for name in outputs):
            output = metric.rpartition(".")[0]
            near = difflib.get_close_matches(output, outputs, n=5, cutoff=0.0)
            raise UsageError(
                f"{goal.metric!r} is no metric that is ever recorded: no output is called {output!r} "
                f"(there is {', '.join(near)})"
            )


def _listed(metric: str) -> bool:
    return any(fnmatchcase(metric, row.pattern) for row in (*RECORDED, *TASK_FIGURES))
