"""Where a correct engine may give NaN or an infinity though the oracle has a number: the oracle has the range of double.

log(softmax(x)) of a probability of 1e-60 is -137 in double, and minus infinity in every engine that keeps the probability in
float32, as the model declares it. More evaluations in double tell what is the model's own. In three of them values beyond the
range of their declared type become infinite, and those below its normal numbers are off by two steps of the grid there to
either side, or flushed to zero; in two more, what rounding may have left of zero is zero, or lies on the other side of it (the
logarithm of which is NaN). A type that is the flow's own, float16 for a model in float32, excuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.core.dtype import numpy_dtype
from assay.errors import Lowering
from assay.numerics import element_types
from assay.numerics.oracle.decompose import expanded
from assay.numerics.oracle.hooks import Call, Hook, Values, observed_by
from assay.numerics.oracle.split_weights import split_weights
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_sites import deviation_of
from assay.numerics.tolerance.simulate.double_evaluation import as_type, named, wide_evaluator
from assay.numerics.tolerance.simulate.graph_study import Graph, study
from assay.numerics.tolerance.simulate.noise import Noisy
from assay.ports import Tensor, Tensors

SAMPLES = 8
"""Of those with such elements, the first."""
STEPS = 2
"""Of the grid below the normal numbers: two roundings."""
_NOISY = 4.0
"""Standard deviations within which a value may be zero: the limit of one element."""
_LIMITED = ("float16", "bfloat16", "float32")

Samples = Sequence[Mapping[str, Tensor]]


class Reaching(Noisy):
    """An evaluation within the ranges of the declared types. What is below their normal numbers is moved by so many `steps` away
    from zero, or flushed to it (None); what lies within its rounding of zero is `faded`, that many standard deviations from it."""

    def __init__(self, graph: Graph, arithmetic: Arithmetic, steps: int | None, faded: float | None) -> None:
        super().__init__(graph, arithmetic)
        self._steps = steps
        self._faded = faded

    def answer(self, call: Call, results: Values) -> Values:
        return tuple(
            self._within(np.asarray(value), self._graph.types.get(name, "float32"))
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
            else value
            for name, value in zip(call.outputs, results, strict=False)
        )

    def _within(self, value: Tensor, dtype: str) -> Tensor:
        """A value as its type holds it."""
        if dtype not in _LIMITED:
            return value
        type_ = _finfo(dtype)
        size, step = np.abs(value), float(type_.smallest_subnormal)
        small = (size < float(type_.smallest_normal)) & (size > 0)
        beyond = size >= float(type_.max) * (1 + float(type_.eps) / 4)
        moved = np.zeros_like(size) if self._steps is None else np.maximum(np.rint(size / step) + self._steps, 0) * step
        return np.where(beyond, np.copysign(np.inf, value), np.where(small, np.copysign(moved, value), value))

    def _at(self, kind: str, value: Tensor, call: Call, variance: Callable[[], Any]) -> Tensor:
        del kind, call
        if self._faded is None:
            return value
        deviation = deviation_of(variance(), value)
        if deviation is None:
            return value
        return np.where(np.abs(value) <= _NOISY * deviation, self._faded * deviation, value)


def smallest_normal(dtype: str) -> float:
    """Of a type whose range counts; 0 for others."""
    return element_types.smallest_normal(dtype) if dtype in _LIMITED else 0.0


def _finfo(dtype: str) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(numpy_dtype(dtype))  # type: ignore[no-untyped-call]


def excused(
    proto: Any, inputs: Samples, actual: Samples, expected: Samples, arithmetic: Arithmetic
) -> tuple[list[dict[str, Tensor]], dict[str, int]]:
    """`actual` with what is expected in place of every NaN and infinity that the model itself gives within its own types, and of
    the numbers beside them that these ranges reach; and how many there are by output. Only samples are looked at in which an
    engine gives NaN or an infinity for a number; none where the model cannot be evaluated in double."""
    answers = [dict(sample) for sample in actual]
    counts: dict[str, int] = {}
    clashing = [at for at, pair in enumerate(zip(actual, expected, strict=False)) if _clashes(*pair)]
    if not clashing:
        return answers, counts
    try:
        evaluate = _evaluating(proto, arithmetic)
        for at in clashing[:SAMPLES]:
            ranged, faded = evaluate(inputs[at])
            for name in _clashes(actual[at], expected[at]):
                answer, right = np.asarray(actual[at][name]), np.asarray(expected[at][name], np.float64)
                limits, classes = (
                    [sample[name] for sample in part if sample[name].shape == answer.shape] for part in (ranged, faded)
                )
                same = _explained(answer.astype(np.float64), limits, [*limits[1:], *classes])
                with np.errstate(all="ignore"):
                    answers[at][name] = np.where(same, right.astype(answer.dtype), answer)
                counts[name] = counts.get(name, 0) + int(same.sum())
    except Lowering:
        return [dict(sample) for sample in actual], {}
    return answers, {name: count for name, count in counts.items() if count}


Evaluated = list[dict[str, Tensor]]


def past_probes(proto: Any) -> tuple[Graph, Callable[[Tensors, Hook], dict[str, Tensor]]]:
    """A model in double, and its outputs where every operator goes past a probe. Raises Lowering where it has none in double."""
    whole = expanded(proto)
    graph = study(whole)
    evaluator = wide_evaluator(*split_weights(whole))
    outputs = [value.name for value in whole.graph.output]

    def once(inputs: Tensors, probe: Hook) -> dict[str, Tensor]:
        with observed_by(probe), np.errstate(all="ignore"):
            return named(outputs, evaluator.evaluate(as_type(inputs, np.float64)))

    return graph, once


def _evaluating(proto: Any, arithmetic: Arithmetic) -> Callable[[Tensors], tuple[Evaluated, Evaluated]]:
    graph, once = past_probes(proto)

    def evaluate(inputs: Tensors) -> tuple[Evaluated, Evaluated]:
        ranged = [Reaching(graph, arithmetic, steps, None) for steps in (-STEPS, STEPS, None)]
        faded = [Reaching(graph, arithmetic, None, deviations) for deviations in (0.0, -1.0)]
        return [once(inputs, hook) for hook in (Hook(), *ranged)], [once(inputs, reaching) for reaching in faded]

    return evaluate


def _clashes(actual: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Outputs in which the engine has NaN or an infinity, and the reference a number that the type of the output holds."""
    clashing = []
    for name, value in expected.items():
        mine, theirs = np.asarray(actual.get(name)), np.asarray(value)
        if mine.dtype.kind not in "fV" or theirs.dtype.kind not in "fV" or mine.shape != theirs.shape:
            continue
        with np.errstate(all="ignore"):
            held = np.isfinite(theirs.astype(mine.dtype).astype(np.float64))
        if (~np.isfinite(mine.astype(np.float64)) & held).any():
            clashing.append(name)
    return tuple(clashing)


def _explained(actual: Tensor, ranged: Sequence[Tensor], classes: Sequence[Tensor]) -> Tensor:
    """Elements that are NaN or the same infinity in one of `classes`; and numbers between those of `ranged`, where these are not
    all the same: the first is the oracle's."""
    same: Tensor = np.zeros(actual.shape, bool)
    for array in classes:
        same |= (np.isnan(actual) & np.isnan(array)) | (np.isinf(actual) & (actual == array))
    if not ranged:
        return same
    lowest, highest = np.fmin.reduce(list(ranged)), np.fmax.reduce(list(ranged))
    same &= np.isfinite(ranged[0])
    same |= (lowest <= actual) & (actual <= highest) & (lowest < highest)
    return same
