"""Two looks at what an engine gave: a cheap one, and for what that does not pass the derived tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from assay.core.dtype import dtype_name, is_floating
from assay.core.flow import Flow
from assay.core.screening import Unspecified
from assay.errors import Lowering, UsageError
from assay.generators.case_values import CaseValues
from assay.generators.lost_in_float32 import forgiven
from assay.numerics.oracle.other_readings import readings_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

CLOSE = 1e-5
"""Of the largest number of an output: nearer than this needs no tolerance."""
HALF_SUMS = "fp16-accumulation"
CLOSE_HALF = 2e-3
"""The same where half precision takes part."""


class Far(msgspec.Struct, frozen=True):
    """How an engine's answer differs. `kind` "": it does not."""

    kind: str = ""
    output: str = ""
    rel_l2: float = 0.0
    budget: float | None = None


def compare(answers: dict[str, Tensor], values: CaseValues) -> Far:
    """The first output that is off."""
    coarse = any(type_name in ("float16", "bfloat16") for type_name in (*values.dtypes, *values.outputs.values()))
    close = CLOSE_HALF if coarse else CLOSE
    for name, dtype in values.outputs.items():
        if name not in answers:
            return Far("missing", name, math.inf)
        mine = answers[name]
        if dtype_name(mine.dtype) != dtype:
            return Far("type", name, math.inf)
        if mine.shape not in (values.declared[name], values.wide[name].shape):
            return Far("shape", name, math.inf)
        if values.is_doubtful():
            continue
        exact = values.expected(name)
        if is_floating(dtype):
            if not np.isfinite(mine).all():
                return Far("range", name, math.inf)
            wide = values.wide[name]
            off = np.abs(mine.astype(np.float64) - wide).max(initial=0.0)
            if off > close * (np.abs(wide).max(initial=0.0) or 1.0):
                return Far("values", name, distance(mine, wide))
        elif not np.array_equal(mine, exact):
            return Far("values", name, distance(mine, exact))
    return Far()


def far_of(answers: dict[str, Tensor], values: CaseValues, flow: Flow, seed: int) -> Far:
    """By the cheap look, and by the derived tolerance where that finds numbers off."""
    far = compare(answers, values)
    return judge(answers, values, far, flow, seed) if far.kind in ("values", "range") else far


def judge(answers: dict[str, Tensor], values: CaseValues, far: Far, flow: Flow, seed: int) -> Far:
    """By the tolerance derived for the flow; what the cheap look found stands where none can be derived."""
    try:
        profile = derive_model(
            values.model, [values.case.inputs], flow.precision, seed=seed, allowances=tuple(flow.allowances)
        )
        used = _used(answers, profile)
        if far.kind == "range" or max(used.values(), default=0.0) > 1.0:
            answers = forgiven(answers, values)
            used = _used(answers, profile)
    except (Lowering, UsageError, ValueError, TypeError, KeyError, ArithmeticError):
        return far
    reals = [answer for name, answer in answers.items() if is_floating(values.outputs.get(name, ""))]
    if not used or not all(np.isfinite(answer).all() for answer in reals):
        return far
    name = max(used, key=lambda operator: used[operator])
    if used[name] <= 1.0:
        return Far()
    return Far("values", name, distance(answers[name], values.wide[name]), used[name])


def _used(answers: dict[str, Tensor], profile: DerivedTolerance) -> dict[str, float]:
    """Of the budget of each output."""
    judged = judge_outputs([answers], None, profile).items()
    return {name: judgement.metrics["budget_used"] for name, judgement in judged if "budget_used" in judgement.metrics}


def coarse_sum(answers: Mapping[str, Tensor], values: CaseValues, flow: Flow, seed: int) -> tuple[Unspecified, ...]:
    """Whether an answer in halves is wrong only if sums are accumulated in more than halves, which the standard does not ask for."""
    halves = "float16" in (*values.dtypes, *values.outputs.values())
    if not halves or not answers or compare(dict(answers), values).kind != "values":
        return ()
    coarse = replace(flow, allowances=(*flow.allowances, HALF_SUMS))
    far = judge(dict(answers), values, Far("values"), coarse, seed)
    return () if far.kind else (Unspecified.COARSE_SUM,)


def other_reading(answers: dict[str, Tensor], values: CaseValues, far: Far) -> tuple[Unspecified, ...]:
    """What the standard does not say, where an answer whose values are `far` by the first reading of it is right by the other. The look
    at that is a cheap one, so that the readings themselves have to differ in it: an answer is near both else, however far it is."""
    readings = readings_of(values.model) if far.kind == "values" else {}
    if not readings:
        return ()
    other = CaseValues(values.case)
    try:
        other.evaluate(otherwise=True)
    except Lowering:
        return ()
    if compare(answers, other).kind or not compare({name: other.expected(name) for name in other.outputs}, values).kind:
        return ()
    return tuple({reading: None for of_operator in readings.values() for reading in of_operator})


def distance(mine: Tensor, exact: Tensor) -> float:
    """Relative L2."""
    mine, exact = mine.astype(np.float64), np.asarray(exact, np.float64)
    finite = np.isfinite(mine) & np.isfinite(exact)
    if not finite.all():
        return math.inf
    return float(np.linalg.norm(mine - exact)) / (float(np.linalg.norm(exact)) or 1.0)
