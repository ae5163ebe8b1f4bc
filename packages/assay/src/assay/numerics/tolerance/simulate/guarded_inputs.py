"""Inputs at which a model's own guards count, and what a correct engine may answer there.

Numbers that are drawn are hardly ever zero: an engine that has lost an epsilon is right on them, and answers infinity or NaN on silence
or a black picture. Such inputs say nothing of ordinary noise, so they are judged for themselves, and by gross differences alone: an
engine that keeps the guards lies far within what is allowed, one that has lost them far beyond. Where a computation is no
better conditioned than that (noise, single precision, or numbers below the normal ones flushed to zero come near to
what is allowed), the inputs say nothing, and are not asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.input_plan import InputRange
from assay.errors import Lowering
from assay.numerics.guards import guards_of, with_epsilon, without
from assay.numerics.oracle.decompose import expanded
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.float32_graph import Float32Evaluator
from assay.numerics.oracle.hooks import SILENT, Hook, observed_by
from assay.numerics.oracle.split_weights import split_weights
from assay.numerics.tolerance.derived_tolerance import DRAWS, DerivedTolerance, GuardedInputs
from assay.numerics.tolerance.rules.derivation_cost import affordable
from assay.numerics.tolerance.rules.noise_pool import NoisePool
from assay.numerics.tolerance.simulate.double_evaluation import as_type, named, wide_evaluator
from assay.numerics.tolerance.simulate.graph_study import study
from assay.numerics.tolerance.simulate.noisy_evaluation import NoisyEvaluation
from assay.numerics.tolerance.simulate.overflow import Reaching
from assay.ports import Tensor, Tensors

if TYPE_CHECKING:
    from onnx import ModelProto

    from assay.numerics.tolerance.deriving import Deriving

SHARE = 2.0**-10
"""Of the largest number of an output: what an engine may be off by at least."""
TIMES = 64.0
"""As loud as that is noise whose largest effect on an output it may be off by else."""
MOST = 2.0**-4
"""Of the largest number of an output: where noise is more than that, nothing is seen."""
FAR = 4.0
"""A model without its guards is off by more than so many times what is allowed, the model itself, evaluated otherwise, by less than that
part of it."""
MOST_ALONE = 32
"""Guards that are lost one at a time: each is an evaluation."""
NONE: Mapping[str, str] = MappingProxyType({})
Outputs = dict[str, Tensor]


def guarded_inputs(
    deriving: Deriving, inputs: Sequence[Tensors], profile: DerivedTolerance, stated: Mapping[str, InputRange]
) -> tuple[GuardedInputs, ...]:
    """As many as it takes so that the loss of each guard alone, where any of them shows it, is shown by one. None where the model has no
    guards, where none counts on such inputs, or where they show nothing. `stated`: what a user says of the values of inputs holds here,
    too."""
    graph, arithmetic = deriving.graph, deriving.arithmetic
    coarse = max(arithmetic.storage, arithmetic.accumulate) > UNIT_ROUNDOFF["float32"] or arithmetic.weight_levels
    if not inputs or coarse or graph.rounds or affordable(deriving.cost, len(inputs) + 1) <= len(inputs):
        return ()
    candidates = list(_candidates(inputs[0], stated))
    if not candidates or not (guards := guards_of(deriving.proto)):
        return ()
    asking, showing = _Asking(deriving, inputs, profile), list[GuardedInputs]()
    try:
        for fed in candidates:
            if guards and (guarded := asking.guarded(fed, guards)) is not None:
                showing.append(guarded)
                guards = asking.unseen(guarded, guards)
    except (Lowering, FloatingPointError):
        pass
    return tuple(showing)


@dataclass
class _Asking:
    """What several inputs share."""

    deriving: Deriving
    inputs: Sequence[Tensors]
    profile: DerivedTolerance

    @cached_property
    def light(self) -> ModelProto:
        """The model without its weights."""
        return split_weights(self.deriving.proto)[0]

    @cached_property
    def noisy(self) -> list[NoisyEvaluation]:
        """Of the model, and of the steps that the standard defines normalizations by: a variance is the difference of two means there, as
        in many engines, and where noise leaves less than zero of it, they answer NaN."""
        deriving = self.deriving
        if not (names := with_epsilon(deriving.proto)):
            return [deriving.drawing]
        steps = expanded(deriving.proto, names)
        light, weights = split_weights(steps)
        studied = study(steps, self.inputs)
        return [
            deriving.drawing,
            NoisyEvaluation(light, weights, studied, deriving.arithmetic, deriving.seed),
        ]

    def evaluated(self, fed: Tensors, lost: Mapping[str, str] = NONE, hook: Hook = SILENT) -> Outputs:
        """In double, without guards that are lost."""
        drawing = self.deriving.drawing
        wide = wide_evaluator(without(self.light, lost), drawing.wide.rt_inits_) if lost else drawing.wide
        return _evaluated(wide, fed, drawing.outputs, hook)

    def guarded(self, fed: dict[str, Tensor], guards: Mapping[str, str]) -> GuardedInputs | None:
        """None where these inputs say nothing of a model that has lost all of these."""
        deriving = self.deriving
        exact, lost = self.evaluated(fed), self.evaluated(fed, guards)
        real = [output.name for output in self.profile.header.outputs if output.kind == "real"]
        known = [name for name in real if np.isfinite(exact[name]).all() and lost[name].shape == exact[name].shape]
        sizes = {name: _size(exact[name], self.profile, name) for name in known}
        allowed = {name: SHARE * size for name, size in sizes.items() if size}
        if not any(_is_off(lost[name], exact[name], FAR * allowed[name]) for name in allowed):
            return None
        noise = _noise(self.noisy, fed, exact, {name: MOST * sizes[name] for name in allowed})
        allowed = {name: max(allowed[name], change) for name, change in noise.items()}
        if not allowed:
            return None
        flushed = Reaching(deriving.graph, deriving.arithmetic, None, None)
        others = [self.evaluated(fed, hook=flushed), _single(deriving, fed)]
        counting = {
            name: limit
            for name, limit in allowed.items()
            if _is_off(lost[name], exact[name], FAR * limit)
            and not any(_is_off(other[name], exact[name], limit / FAR) for other in others)
        }
        return GuardedInputs(dict(fed), {name: exact[name] for name in counting}, counting) if counting else None

    def unseen(self, guarded: GuardedInputs, guards: Mapping[str, str]) -> dict[str, str]:
        """Those whose loss alone these inputs do not show. Of many guards, the first are asked."""
        alone = [*guards][:MOST_ALONE] if len(guards) > 1 else []
        return {guard: guards[guard] for guard in alone if not self._is_seen(guarded, {guard: guards[guard]})}

    def _is_seen(self, guarded: GuardedInputs, lost: Mapping[str, str]) -> bool:
        answer = self.evaluated(guarded.inputs, lost)
        return any(_is_off(answer[name], guarded.oracle[name], FAR * limit) for name, limit in guarded.allowed.items())


def _candidates(sample: Tensors, stated: Mapping[str, InputRange]) -> Iterator[dict[str, Tensor]]:
    """The first sample with other real numbers: none at all, none in the first half (a model may look for silence before it computes
    anything), and none above zero. What is a single number is a setting, and stays, where there are others."""
    every = {name: array for name, array in sample.items() if array.dtype.kind == "f" and array.size}
    real = {name: array for name, array in every.items() if array.size > 1} or every
    for changed in (np.zeros_like, _half, lambda array: -np.abs(array)) if real else ():
        yield {**sample, **{name: _within(changed(array), array, stated.get(name)) for name, array in real.items()}}


def _within(changed: Tensor, drawn: Tensor, stated: InputRange | None) -> Tensor:
    """As drawn where more is stated of an input than two bounds."""
    if stated is None:
        return changed
    if stated != InputRange(stated.low, stated.high, source=stated.source):
        return drawn
    return np.clip(changed, stated.low, stated.high) if (stated.low, stated.high) != (None, None) else changed


def _half(array: Tensor) -> Tensor:
    """Of its longest axis."""
    half, axis = array.copy(), int(np.argmax(array.shape)) if array.ndim else 0
    half[(slice(None),) * axis + (slice(array.shape[axis] // 2),) if array.ndim else ()] = 0
    return half


def _evaluated(evaluator: WideEvaluator, fed: Tensors, outputs: Sequence[str], hook: Hook = SILENT) -> Outputs:
    with observed_by(hook), np.errstate(all="ignore"):
        return named(outputs, evaluator.evaluate(as_type(fed, evaluator.computes_in)))


def _single(deriving: Deriving, fed: Tensors) -> Outputs:
    evaluator = Float32Evaluator.beside(deriving.drawing.wide, *split_weights(deriving.proto))
    return _evaluated(evaluator, fed, deriving.drawing.outputs)


def _size(value: Tensor, profile: DerivedTolerance, name: str) -> float:
    """The largest number of an output, here or of an ordinary sample."""
    arrays = [value, *(sample[name] for sample in profile.oracle)]
    return max((float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays), default=0.0)


def _is_off(value: Tensor, exact: Tensor, limit: float) -> bool:
    """By more than that, or no number, anywhere."""
    if value.shape != exact.shape:
        return True
    with np.errstate(all="ignore"):
        return not bool((np.abs(value.astype(np.float64) - exact) <= limit).all())


def _noise(
    noisy: Sequence[NoisyEvaluation], fed: Tensors, exact: Tensors, limits: Mapping[str, float]
) -> dict[str, float]:
    """The most that noise TIMES as loud changes of the outputs that it leaves within these limits."""
    noise, pool = dict.fromkeys(limits, 0.0), NoisePool((0,), max(array.size for array in fed.values()))
    for evaluation, turn in itertools.product(noisy, range(DRAWS)):
        if not noise:
            break
        answer = evaluation.evaluated(evaluation.wide, fed, evaluation.draw_of((0, turn), TIMES, None, pool))
        most = {name: max(so_far, _most(answer[name], exact[name])) for name, so_far in noise.items()}
        noise = {name: change for name, change in most.items() if change <= limits[name]}
    return noise


def _most(value: Tensor, exact: Tensor) -> float:
    """The largest difference."""
    if value.shape != exact.shape or not np.isfinite(value).all():
        return np.inf
    return float(np.abs(value - exact).max(initial=0.0))
