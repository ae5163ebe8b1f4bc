"""A tolerance is tried before it is trusted: gross defects, built into the same model, must be seen by it.

A noise rule that is wrong by orders of magnitude blinds a gate in silence. Three defects that no contract allows: inputs
and weights rounded twelve bits coarser than the flow's type (where a type is too coarse for that, or values lie on a grid, the
last operator's answer lost), the last slice of an operator's answer lost, the last term of its sums lost. Where no operator has
weights (a normalization, a softmax), one that computes stands for it, and its answer is scaled, and shifted along its last axis,
instead. They are evaluated on the first sample. An output at which none of them is seen is itself scaled, and loses its end, in
the sample that says most of it; where that is not seen either, it proves nothing by passing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from assay.core.defect import Defect, DefectKind
from assay.core.dtype import is_floating
from assay.errors import Lowering
from assay.numerics.oracle.hooks import Call, Hook, Values, observed_by
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Tried
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.numerics.tolerance.simulate.defect_places import defect_label
from assay.numerics.tolerance.simulate.double_evaluation import as_type, named
from assay.numerics.tolerance.simulate.graph_study import WEIGHTS
from assay.ports import Tensor, Tensors

if TYPE_CHECKING:
    pass


_Built = tuple[Defect, dict[str, Tensor], Hook, str]
"""A defect, weights and inputs that it changes, and what changes an operator's answer."""
COARSER = 2.0**12
_COARSEST = 0.25
BEYOND = 1e30
"""What is told of a budget without end: JSON has no infinity."""


class _Lost(Hook):
    """The answer of one operator, `lost` in part or in whole, or at another place."""

    def __init__(self, output: str, lost: Callable[[Tensor], Tensor]) -> None:
        self._output = output
        self._lost = lost

    def answer(self, call: Call, results: Values) -> Values:
        return (
            tuple(
                self._lost(value) if name == self._output else value
                for name, value in zip(call.outputs, results, strict=False)
            )
            if self._output in call.outputs
            else results
        )


def _end_lost(value: Tensor) -> Tensor:
    """Zero at the end of its channels (of its last axis where there are none)."""
    changed = value.copy()
    axis = 1 if value.ndim > 2 else value.ndim - 1
    if value.ndim == 0:
        changed[...] = 0
    else:
        changed[(slice(None),) * axis + (-1,)] = 0
    return changed


def _shifted(value: Tensor) -> Tensor:
    """Along the last axis, as if an index were off by one."""
    return np.roll(value, 1, axis=-1) if value.ndim else value


def selftest(deriving: Deriving, profile: DerivedTolerance, inputs: Sequence[Tensors]) -> tuple[Tried, ...]:
    """Every defect that the model has a place for; none where it has none."""
    if not inputs or all(output.kind in ("none", "random") for output in profile.header.outputs):
        return ()
    feeds = as_type(inputs[0], np.float64)
    first = _sample_of(profile, 0)
    tried = [
        trial for built in _defects(deriving, feeds) if (trial := _tried(built, deriving, first, feeds)) is not None
    ]
    for name in sorted(msgspec.structs.replace(profile.header, selftest=tuple(tried)).blind):
        quietest = _sample_of(profile, min(range(len(profile.oracle)), key=lambda at: _noise_share(profile, at, name)))
        for defect, lost in _at_its_end(deriving, name):
            # Nothing but the output itself is looked at, and its operator is the last before it: no evaluation is needed.
            trial = _seen(defect, {name: lost(quietest.oracle[0][name])}, [name], quietest)
            tried += [trial] if trial is not None else []
    return tuple(tried)


def _sample_of(profile: DerivedTolerance, at: int) -> DerivedTolerance:
    part = slice(at, at + 1)
    return DerivedTolerance(profile.header, profile.oracle[part], profile.deviation[part], profile.margins[part])


def _noise_share(profile: DerivedTolerance, at: int, name: str) -> float:
    """Of one sample of an output, noise over signal; infinite where there is no signal, 0 of one that is chosen: nothing is added to it."""
    if name not in profile.deviation[at]:
        return 0.0
    finite = np.isfinite(oracle := np.asarray(profile.oracle[at][name], np.float64))
    signal = float(np.linalg.norm(oracle[finite]))
    return float(np.linalg.norm(profile.deviation[at][name][finite])) / signal if signal else np.inf


def _tried(built: _Built, deriving: Deriving, first: DerivedTolerance, feeds: Tensors) -> Tried | None:
    """None for an equivalent mutant, one that cannot be evaluated, and where there is no tolerance to try."""
    defect, changed, probe, node = built
    before = deriving.before.get(node, {})
    try:
        with observed_by(probe), np.errstate(all="ignore"):
            outputs = named(deriving.outputs, deriving.wide.evaluate({**feeds, **changed}, known=before))
    except Lowering:
        return None
    return _seen(defect, outputs, [output.name for output in first.header.outputs if output.kind != "random"], first)


def _seen(defect: Defect, outputs: dict[str, Tensor], names: Sequence[str], first: DerivedTolerance) -> Tried | None:
    """What the tolerance says of these outputs. None where the defect changes none of them, or there is none to try."""
    changed_at = [name for name in names if not _equal(outputs[name], first.oracle[0][name])]
    if not changed_at:
        return None
    judged = judge_outputs([outputs], None, first.only(changed_at), worst=1)
    budgets = {name: _budget(judged.get(name), outputs[name], first.oracle[0][name]) for name in changed_at}
    known = {name: budget for name, budget in budgets.items() if budget is not None}
    if not known:
        return None
    detected_by = tuple(name for name, budget in known.items() if budget > 1.0)
    missed = tuple(name for name in known if name not in detected_by)
    return Tried(defect, min(max(known.values()), BEYOND), bool(detected_by), detected_by, missed)


def _equal(tensor: Tensor, other: Tensor) -> bool:
    return tensor.shape == other.shape and np.array_equal(tensor, other, equal_nan=tensor.dtype.kind == "f")


def _budget(judged: OutputJudgement | None, actual: Tensor, oracle: Tensor) -> float | None:
    """None where no tolerance was derived for the output; another shape, or other NaN and infinities, are seen by the
    comparator."""
    if actual.shape != oracle.shape:
        return BEYOND
    if actual.dtype.kind == "f" and not np.array_equal(np.isfinite(actual), np.isfinite(oracle)):
        return BEYOND
    return None if judged is None else judged.metrics.get("budget_used")


def _at_its_end(deriving: Deriving, output: str) -> list[tuple[Defect, Callable[[Tensor], Tensor]]]:
    """For an output at which none of the others shows: they may be far from it, and average out on the way."""
    node = deriving.graph.producers.get(output)
    if node is None or not is_floating(deriving.graph.types.get(output, "")):
        return []
    factor = 1.0 + min(_unit(deriving), _COARSEST)
    return [
        (Defect(DefectKind.SCALED, defect_label(node), factor), lambda value: value * factor),
        (Defect(DefectKind.CHANNEL_OF_OUTPUT_LOST, output), _end_lost),
    ]


def _unit(deriving: Deriving) -> float:
    step = 1.0 / deriving.arithmetic.weight_levels if deriving.arithmetic.weight_levels else 0.0
    return COARSER * max(deriving.arithmetic.storage, deriving.arithmetic.multiply, step)


def _defects(deriving: Deriving, feeds: Tensors) -> list[_Built]:
    unit = _unit(deriving)
    rounded = {name: _coarsened(value, unit) for name, value in feeds.items() if value.dtype == np.float64}
    # Which of them the body of a Loop multiplies by, nobody has looked up.
    weights = (*deriving.graph.weights, *(deriving.graph.others if deriving.graph.subgraphs else ()))
    rounded |= {name: _coarsened(deriving.wide.rt_inits_[name], unit) for name in weights}
    before = {**deriving.wide.rt_inits_, **feeds}
    rounded = {name: value for name, value in rounded.items() if not _equal(value, before[name])}
    defects: list[_Built] = []
    if unit < _COARSEST and rounded:
        defects.append((Defect(DefectKind.ROUNDED, size=unit), rounded, Hook(), ""))
    if (unit >= _COARSEST or deriving.graph.rounds) and deriving.last is not None:
        # Then nothing can be rounded by as much, and the two below may lie under the rounding of the type, or of the grid.
        last = deriving.last
        label = defect_label(last)
        defects.append((Defect(DefectKind.ALL_LOST, label), {}, _Lost(last.output[0], np.zeros_like), label))
    if deriving.middle is not None:
        node, weight = deriving.middle
        label = defect_label(node)
        defects.append((Defect(DefectKind.CHANNEL_LOST, label), {}, _Lost(node.output[0], _end_lost), label))
        if node.op_type not in WEIGHTS:
            factor = 1.0 + min(unit, _COARSEST)
            scaled = _Lost(node.output[0], lambda value: value * factor)
            defects.append((Defect(DefectKind.SCALED, label, factor), {}, scaled, ""))
            defects.append((Defect(DefectKind.SHIFTED, label), {}, _Lost(node.output[0], _shifted), ""))
        if weight:
            defects.append(
                (Defect(DefectKind.TERM_LOST, label), {weight: _term_lost(deriving, node, weight)}, Hook(), label)
            )
    return defects


def _coarsened(value: Tensor, unit: float) -> Tensor:
    """Rounded to nearest at a unit roundoff that is a power of two."""
    mantissa, exponent = np.frexp(value)
    grid = 0.5 / unit
    result: Tensor = np.ldexp(np.round(mantissa * grid * 2) / (grid * 2), exponent)
    return np.where(np.isfinite(value), result, value)


def _term_lost(deriving: Deriving, node: Any, weight: str) -> Tensor:
    value: Tensor = deriving.wide.rt_inits_[weight].copy()
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    if node.op_type == "Conv":
        value.reshape(value.shape[0], -1)[:, -1] = 0
    elif node.op_type == "ConvTranspose":
        value[-1] = 0
    else:
        first = weight == node.input[0]
        along_last = first ^ bool(attributes.get("transA" if first else "transB"))
        value[(..., -1) if along_last or value.ndim == 1 else (..., -1, slice(None))] = 0
    return value
