"""What is said of cases and their goals, compared with what the models have: before anything runs."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from assay.core.case import Case
from assay.core.model import Model
from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.metric_registry import AGAINST_FLOAT, RECORDED, TASK_FIGURES
from assay.options.sizes import check_sizes


def check_goals(goals: Sequence[Goal], cases: Sequence[Case]) -> None:
    """Raises UsageError for a metric of an output (`logits.max_abs`) where no model that the goal is about has that output.
    A goal about cases that are not here today is left alone."""
    for goal in goals:
        outputs = [
            tensor_spec.name
            for case in cases
            if fnmatchcase(case.name, goal.case)
            for tensor_spec in case.model.outputs
        ]
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


def check_dims(case: Case) -> None:
    """Raises UsageError for a dimension that the model does not have, and for sizes that are out of order."""
    symbols = named_dimensions(case.model)
    for name, sizes in case.inputs.dims.items():
        check_sizes(name, sizes)
        if name not in symbols:
            raise UsageError(f"model '{case.name}' has no symbolic dimension '{name}'; {_instead(name, symbols)}")


def named_dimensions(model: Model) -> list[str]:
    """Their names, or `input[2]` for those without."""
    return list(
        dict.fromkeys(
            f"{spec.name}[{axis}]" if size == "?" else size
            for spec in model.inputs
            for axis, size in enumerate(spec.shape)
            if isinstance(size, str) and size != "..."
        )
    )


def _instead(name: str, symbols: list[str]) -> str:
    near = difflib.get_close_matches(name, symbols, n=1)
    if near:
        return f"perhaps you mean '{near[0]}'"
    return f"it has {', '.join(symbols)}" if symbols else "all its inputs have fixed shapes"
