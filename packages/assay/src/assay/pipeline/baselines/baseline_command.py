"""The command that makes a baseline, with all that its job had."""

from __future__ import annotations

import shlex

import msgspec

from assay.core.baseline import Baseline
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.limits import Measuring
from assay.options.arguments import arguments_of
from assay.options.check import BaselineOptions
from assay.options.declaration import rows
from assay.options.groups import history_words
from assay.options.job_values import Values, flow_values, input_values, limit_values, measuring_values, model_values


def set_command(case: Case, flow: Flow, measuring: Measuring, reason: str, history: str) -> str:
    """`assay baseline set` for a job of this case."""
    return _command({**_values(case, flow, measuring), "reason": reason}, history)


def refresh_command(baseline: Baseline, reason: str, history: str) -> str:
    """`assay baseline set` for the job of this baseline. One of an earlier version does not know its recipe."""
    case, recipe = Case(baseline.case, baseline.model), baseline.recipe
    if recipe is None:
        return _command({**model_values(case), **flow_values(baseline.flow), "reason": reason}, history)
    values = _values(msgspec.structs.replace(case, inputs=recipe.inputs), baseline.flow, recipe.measuring)
    known = {row.name for row in rows(BaselineOptions)}
    limits = {name: value for name, value in limit_values(recipe.limits).items() if name in known}
    return _command({**values, **limits, "reason": reason}, history)


def _values(case: Case, flow: Flow, measuring: Measuring) -> Values:
    return {**model_values(case), **flow_values(flow), **input_values(case), **measuring_values(measuring)}


def _command(values: Values, history: str) -> str:
    words = ["assay", "baseline", "set", *arguments_of(BaselineOptions, values), *history_words(history)]
    return shlex.join(words)
