"""Numbers that a plain evaluation in float32 does not get either: their squares, or what else stands between, are beyond the type."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.core.dtype import is_floating
from assay.generators.case_values import CaseValues
from assay.numerics.oracle.decompose import expanded
from assay.numerics.oracle.float32_graph import Float32Evaluator
from assay.numerics.tolerance.simulate.double_evaluation import as_type, copied
from assay.ports import Tensor

CLOSE = 1e-2
"""Of the largest number of an output. A plain evaluation is off by far more where its type does not hold what stands between; where it
loses digits alone the derived tolerance has a word."""
TIMES = 10.0
"""As far off as the plain evaluation an answer may be: other orders of the same sum lose more, or less."""


def forgiven(answers: Mapping[str, Tensor], values: CaseValues) -> dict[str, Tensor]:
    """The answers with the exact number wherever every node, as the standard has it and in float32, comes to another: the row of an
    LpNormalization whose squares vanish, say. Where digits alone are lost, the answer has to be about as near. Nothing is forgiven of a
    model in double, nor where no such evaluation can be made."""
    try:
        single, is_beyond = _in_float32(values)
    except Exception:  # noqa: BLE001  the evaluator meets forms that nobody has tried in float32
        return dict(answers)
    return {
        name: _forgiven(answer, single.get(name), values, name, is_beyond=is_beyond) for name, answer in answers.items()
    }


def _in_float32(values: CaseValues) -> tuple[dict[str, Tensor], bool]:
    """Its outputs, and whether a number on the way was too small or too large for the type: what comes of that may be anything."""
    if "float64" in (*values.dtypes, *values.outputs.values()):
        return {}, False
    beyond: list[str] = []
    evaluator = Float32Evaluator(copied(expanded(values.model)), weights={})
    with np.errstate(all="ignore", under="call", over="call", call=lambda kind, flag: beyond.append(kind)):
        outputs = evaluator.evaluate(as_type(values.case.inputs, np.float32))
    named = {name: np.asarray(output) for name, output in zip(evaluator.output_names, outputs, strict=True)}
    return named, bool(beyond)


def _forgiven(answer: Tensor, single: Tensor | None, values: CaseValues, name: str, *, is_beyond: bool) -> Tensor:
    if single is None or name not in values.outputs or not is_floating(values.outputs[name]):
        return answer
    wide = values.wide[name]
    if not answer.shape == single.shape == wide.shape:
        return answer
    with np.errstate(all="ignore"):
        off = np.abs(single.astype(np.float64) - wide)
        own = np.abs(answer.astype(np.float64) - wide)
        lost = ~(off <= CLOSE * (np.abs(wide).max(initial=0.0) or 1.0))
        is_number = np.isfinite(off)
        is_near = own <= TIMES * off.max(where=lost & is_number, initial=0.0)
        lost &= is_near | ~is_number | is_beyond
    return np.where(lost, values.expected(name), answer) if lost.any() else answer
