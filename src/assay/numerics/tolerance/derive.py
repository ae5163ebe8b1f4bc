"""Derive a tolerance: the oracle, the noise of every place that rounds, and what noisy evaluations make of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.dtype import is_floating
from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator, SingleEvaluator, WideEvaluator
from assay.numerics.oracle.expand import expanded
from assay.numerics.oracle.probe import observed_by
from assay.numerics.oracle.weights import without_weights
from assay.numerics.tolerance.contract import Arithmetic, arithmetic_of
from assay.numerics.tolerance.discrete import Decision, decision_of, interval, ranking
from assay.numerics.tolerance.graph import Graph, study
from assay.numerics.tolerance.joining import MOST, alike, join, may_join, same, split
from assay.numerics.tolerance.jumps import TIPPING, Largest, Shake
from assay.numerics.tolerance.noise import Diverged, Draw, Recorder, held
from assay.numerics.tolerance.pool import Pool
from assay.numerics.tolerance.profile import DRAWS, Header, OutputNoise, Profile
from assay.numerics.tolerance.selftest import last_of, middle_of, selftest
from assay.numerics.tolerance.spread import Spread, shrunk_deviation
from assay.ports import Tensor, Tensors

AMPLIFIED = 2.0**9
"""Noise far enough above the rounding of the evaluation itself, and small enough not to cross a kink more often."""
CHECKED = 2
"""Evaluations (of one sample, or of several at once) whose last draw is not amplified, and shows whether that was right:
where it was not, it is off by an order of magnitude."""
FEWER = 4
"""Draws where there are MANY samples: each has its own, and the statistics take all samples together."""
MANY = 4
MOST_VALUES = 1 << 28
"""Places times samples of one profile: some ten pictures of a large convolution net, minutes of work. Samples beyond are
judged by what the noisiest element of these was allowed."""
MEMORY_BYTES = 1 << 29
"""Of the values of one evaluation, roughly."""
BYTES_A_PLACE = 16
"""Its deviation, its value in double, and what lies between."""
_COARSE = 2.0**-13
_FINE = 2.0**-30
_UNIT = 2.0**-24


def derive(
    model: Path, inputs: Sequence[Tensors], precision: str, *, seed: int = 0, allowances: tuple[str, ...] = ()
) -> Profile:
    """The profile of an ONNX model on these inputs for flows of this precision.

    Raises UsageError for a precision without arithmetic, `assay.errors.Lowering` where the model cannot be evaluated in
    double (custom operators, text): the reason is its text.
    """
    import onnx

    return derive_model(onnx.load(model), inputs, precision, seed=seed, allowances=allowances)


def derive_model(
    proto: Any, inputs: Sequence[Tensors], precision: str, *, seed: int = 0, allowances: tuple[str, ...] = ()
) -> Profile:
    """The same of a loaded model, which is left as it is."""
    whole = expanded(proto)
    graph = study(whole)
    # float32 is what a flow promises that promises nothing: a model written in double is asked for double then.
    if precision == "float32" and graph.is_double and "double-in-float32" not in allowances:
        precision = "float64"
    deriving = Deriving(whole, arithmetic_of(precision, allowances), seed, graph)
    samples = deriving.samples(inputs)
    profile = deriving.profile(samples, precision)
    begin = time.perf_counter()
    tried = selftest(deriving, profile, inputs)
    seconds = {**deriving.seconds, "selftest": time.perf_counter() - begin}
    return Profile(
        msgspec.structs.replace(profile.header, selftest=tried, seconds=seconds),
        profile.oracle,
        profile.deviation,
        profile.margins,
    )


@dataclass
class Sample:
    """What one sample gives: the oracle's values by name, the standard deviations, what decides."""

    values: dict[str, Tensor] = field(default_factory=dict)
    deviations: dict[str, Tensor] = field(default_factory=dict)
    margins: dict[str, Tensor] = field(default_factory=dict)
    unstable: dict[str, str] = field(default_factory=dict)
    recorded_bytes: int = 0


class Bent(Exception):
    """The noise of this model does not grow in proportion: it must be drawn as it is."""


class Deriving:
    """One model and contract: evaluators made once, samples one after the other."""

    def __init__(self, proto: Any, arithmetic: Arithmetic, seed: int, graph: Graph | None = None) -> None:
        self._proto = proto
        self.graph: Graph = graph or study(proto)
        self.arithmetic = arithmetic
        self.seed = seed
        self.outputs = [one.name for one in proto.graph.output]
        light, weights = without_weights(proto)
        self.wide = _evaluator(light, weights)
        self.single = self._single(light, weights)
        self.draws = DRAWS
        self.middle = middle_of(self.wide, self.graph)
        self.last = last_of(self.wide, self.graph)
        self.before: dict[str, Any] = {}
        self._inexact: dict[bool, list[str]] = {}
        self.amplified = self._amplification()
        self.unchecked = CHECKED
        self.without_rule: dict[str, None] = {}
        self.seconds = {"record": 0.0, "draws": 0.0}
        found = (decision_of(name, self.graph) for name in self.outputs)
        self.decisions: dict[str, Decision] = {one.output: one for one in found if one is not None}
        self.taps = tuple(dict.fromkeys(name for one in self.decisions.values() for name in one.taps))

    def _single(self, proto: Any, weights: Tensors) -> SingleEvaluator | None:
        """None where single precision is too coarse to show the noise, or where amplifying would cross jumps."""
        fine = self.arithmetic.storage < _COARSE
        if self.arithmetic.storage < _FINE or (fine and self.graph.jumps):
            return None
        try:
            return SingleEvaluator(_copy(proto), weights=weights)
        except (Lowering, ValueError):
            return None

    def _amplification(self) -> float:
        if self.single is not None:
            return 1.0 if self.arithmetic.storage >= _COARSE else AMPLIFIED
        return AMPLIFIED if self.arithmetic.storage < _FINE else 1.0

    def samples(self, inputs: Sequence[Tensors]) -> list[Sample]:
        """Oracle and noise of all samples, several at once where the model lets them."""
        self.draws = self._how_many(len(inputs))
        try:
            return self._samples(inputs)
        except Bent:
            self.single, self.amplified = None, 1.0
            return self._samples(inputs)

    def _how_many(self, samples: int) -> int:
        """All of them where the range of the draws is what is allowed, or where values jump."""
        smooth = not self.graph.jumps and not self.graph.subgraphs
        real = all(is_floating(self.graph.types.get(one, "")) or one in self.decisions for one in self.outputs)
        return FEWER if samples >= MANY and smooth and real else DRAWS

    def _samples(self, inputs: Sequence[Tensors]) -> list[Sample]:
        if not inputs:
            return []
        found = {0: self._sample(0, inputs[0])}
        inputs = inputs[: max(1, MOST_VALUES // max(1, found[0].recorded_bytes // BYTES_A_PLACE))]
        for places in alike(inputs):
            self._group(places, inputs, found)
        for sample in found.values():
            for decision in self.decisions.values():
                self._decide(decision, sample)
        return [found[place] for place in range(len(inputs))]

    def _group(self, places: Sequence[int], inputs: Sequence[Tensors], found: dict[int, Sample]) -> None:
        """Samples of one shape: the first alone, the others together where the model lets them."""
        first = places[0]
        if first not in found:
            found[first] = self._sample(first, inputs[first])
        rest = list(places[1:])
        at_once = self._at_once([inputs[place] for place in places], found[first])
        while rest:
            part, rest = rest[:at_once], rest[at_once:]
            parts = self._together(part[0], [inputs[one] for one in part], found[first]) if len(part) > 1 else None
            if parts is None:
                at_once, rest = 1, part[1:] + rest
                parts = [self._sample(part[0], inputs[part[0]])]
            found.update(zip(part, parts, strict=False))

    def _at_once(self, inputs: Sequence[Tensors], first: Sample) -> int:
        if not may_join(self._proto, inputs):
            return 1
        return int(max(1, min(MOST, MEMORY_BYTES // max(1, first.recorded_bytes))))

    def _together(self, start: int, inputs: Sequence[Tensors], first: Sample) -> list[Sample] | None:
        """None where the samples are not independent of each other after all."""
        try:
            whole = self._sample(start, join(inputs))
            with np.errstate(all="ignore"):
                last, _ = self._exact(inputs[-1])
        except Lowering:
            return None
        values = split(whole.values, len(inputs), first.values)
        deviations = split(whole.deviations, len(inputs), first.deviations)
        margins = split(whole.margins, len(inputs), first.margins)
        if values is None or deviations is None or margins is None or whole.unstable or not same(values[-1], last):
            return None
        rows = zip(values, deviations, margins, strict=True)
        return [Sample(value, deviation, margin) for value, deviation, margin in rows]

    def _exact(self, inputs: Tensors, more: Sequence[str] = ()) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Outputs and taps by name, and the values called `more`."""
        names = [*self.outputs, *self.taps]
        found = self.wide.evaluate(as_type(inputs, np.float64), (*self.taps, *more))
        return named(names, found[: len(names)]), dict(zip(more, found[len(names) :], strict=True))

    def _sample(self, number: int, inputs: Tensors) -> Sample:
        sample = Sample()
        begin = time.perf_counter()
        recorder = Recorder(self.graph, self.arithmetic, keep=not self.graph.subgraphs)
        with observed_by(recorder), np.errstate(all="ignore"):
            sample.values, before = self._exact(inputs, () if number else self._before_middle())
        self.before = self.before if number else before
        sample.recorded_bytes = recorder.values * BYTES_A_PLACE
        self.without_rule.update(recorder.without_rule)
        self.seconds["record"] += time.perf_counter() - begin
        begin = time.perf_counter()
        recorded = recorder if not self.graph.subgraphs else None
        self._draw(number, inputs, recorded, sample)
        if self.graph.rounds:
            self._tip(number, inputs, recorded, sample)
        self.seconds["draws"] += time.perf_counter() - begin
        return sample

    def _before_middle(self) -> list[str]:
        """What the first sample's evaluation keeps: a defect in the middle changes nothing before it."""
        if self.middle is None or self.graph.subgraphs:
            return []
        outputs = tuple(self.middle[0].output)
        return self.wide.boundary(set(), lambda one: one == outputs, self.outputs)

    def _draw(self, number: int, inputs: Tensors, recorder: Recorder | None, sample: Sample) -> None:
        pool = Pool((self.seed, number), recorder.largest if recorder is not None else 1)
        try:
            self._draws(number, inputs, recorder, pool, sample, self.single or self.wide, self.amplified)
        except (Diverged, Lowering, FloatingPointError):
            # Another way through the graph, or an operator that single precision cannot do.
            self._draws(number, inputs, None, pool, sample, self.wide, 1.0)

    def _draws(
        self,
        number: int,
        inputs: Tensors,
        recorder: Recorder | None,
        pool: Pool,
        sample: Sample,
        evaluator: Evaluator,
        amplified: float,
    ) -> None:
        base, known = self._base(inputs, recorder, sample, evaluator)
        spread = Spread(base)
        straight = evaluator is not self.wide and amplified > 1.0 and self.unchecked > 0
        self.unchecked -= straight
        for turn in range(self.draws - straight):
            spread.add(
                self._noisy(evaluator, inputs, (number, turn), amplified, recorder, pool, known), base, amplified
            )
        if straight:
            spread = self._look(number, inputs, recorder, pool, sample, spread)
        sample.deviations, sample.unstable = spread.deviations(), spread.unstable
        sample.margins.update(spread.ranges())

    def _tip(self, number: int, inputs: Tensors, recorder: Recorder | None, sample: Sample) -> None:
        """Where jumps reach and how far, which draws of true size are too few to show."""
        pool = Pool((self.seed, number), recorder.largest if recorder is not None else 1)
        tipped, shaken = Largest(sample.values), Largest(sample.values)
        turn = (number, DRAWS + 1)
        shake = Shake((self.seed, *turn), self.arithmetic.steps)
        with observed_by(shake), np.errstate(all="ignore"):
            self.wide.evaluate(as_type(inputs, np.float64), self.taps)
        for sign in (-1.0, 1.0):
            shake.again()
            try:
                tipped.add(self._noisy(self.wide, inputs, turn, sign * TIPPING, recorder, pool))
                with observed_by(shake), np.errstate(all="ignore"):
                    found = self.wide.evaluate(as_type(inputs, np.float64), self.taps)
                shaken.add(named([*self.outputs, *self.taps], found))
            except (Diverged, Lowering, IndexError, ValueError):
                continue  # another way through the graph, or an index moved out of range
        sample.margins.update({**tipped.margins("tipped"), **shaken.margins("shaken")})

    def _noisy(
        self,
        evaluator: Evaluator,
        inputs: Tensors,
        turn: tuple[int, int],
        amplified: float,
        recorder: Recorder | None,
        pool: Pool,
        known: dict[str, Any] | None = None,
    ) -> dict[str, Tensor]:
        """One noisy evaluation."""
        draw = Draw(self.graph, self.arithmetic, (self.seed, *turn), amplified, recorder, pool)
        with observed_by(draw), np.errstate(all="ignore"):
            found = evaluator.evaluate(self._feeds(evaluator, inputs, draw), self.taps, known)
        return named([*self.outputs, *self.taps], found)

    def _look(
        self, number: int, inputs: Tensors, recorder: Recorder | None, pool: Pool, sample: Sample, spread: Spread
    ) -> Spread:
        """The last draw in double and as it is: amplified noise, divided again, is too small where a root or a logarithm
        at its end, or chaos, bends it. Raises Bent where two of two lie elsewhere than the others."""
        for turn in (self.draws - 1, self.draws):
            noisy = self._noisy(self.wide, inputs, (number, turn), 1.0, recorder, pool)
            if spread.is_continued(noisy, sample.values, [*self.outputs, *self.taps]):
                spread.add(noisy, sample.values, 1.0)
                return spread
        raise Bent

    def _base(
        self, inputs: Tensors, recorder: Recorder | None, sample: Sample, evaluator: Evaluator
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """What the draws differ from, and the values that are the same in all of them."""
        if evaluator is self.wide:
            return sample.values, {}
        names = [*self.outputs, *self.taps]
        same = self._untouched(evaluator, inputs, recorder) if recorder is not None else []
        with np.errstate(all="ignore"):
            values = evaluator.evaluate(as_type(inputs, np.float32), (*self.taps, *same))
        base = named(names, values[: len(names)])
        _same_classes(base, sample.values)
        return base, dict(zip(same, values[len(names) :], strict=True))

    def _untouched(self, evaluator: Evaluator, inputs: Tensors, recorder: Recorder) -> list[str]:
        """Values that no noise reaches, where they meet those that it does."""
        coarse = self.arithmetic.storage > _UNIT
        noisy = set(self._stored(coarse)) | (set(inputs) & self.graph.data if coarse else set())
        return evaluator.boundary(noisy, lambda outputs: recorder.is_noisy(outputs), [*self.outputs, *self.taps])

    def _feeds(self, evaluator: Evaluator, inputs: Tensors, draw: Draw) -> dict[str, Tensor]:
        """Inputs, and stored numbers as a backend may refold them; in a coarser flow everything is stored anew."""
        dtype = np.dtype(np.float64) if evaluator is self.wide else np.dtype(np.float32)
        feeds = as_type(inputs, dtype)
        coarse = self.arithmetic.storage > _UNIT
        if coarse:
            for name, value in feeds.items():
                if value.dtype == dtype and name in self.graph.data and not held(value, self.arithmetic.storage):
                    feeds[name] = draw.weight(value, self.arithmetic.storage)
        for name in self._stored(coarse):
            if name not in feeds:
                feeds[name] = draw.weight(evaluator.rt_inits_[name], self.arithmetic.weights)
        return feeds

    def _stored(self, coarse: bool) -> list[str]:
        """Initializers that may be off by a unit of the flow's weights."""
        if coarse not in self._inexact:
            names = (*self.graph.weights, *self.graph.others) if coarse else self.graph.weights
            unit = self.arithmetic.weights
            self._inexact[coarse] = [name for name in names if not held(self.wide.rt_inits_[name], unit)]
        return self._inexact[coarse]

    def _decide(self, decision: Decision, sample: Sample) -> None:
        values = [sample.values[name] for name in decision.taps]
        deviations = [sample.deviations.get(name) for name in decision.taps]
        if any(one is None for one in deviations):
            return
        spread = [shrunk_deviation(one, self.draws) for one in deviations if one is not None]
        found = (
            ranking(decision, values[0], spread[0])
            if decision.kind == "ranking"
            else interval(decision, self.wide, values, spread)
        )
        for key, value in found.items():
            sample.margins[f"{decision.output}/{key}"] = value

    def profile(self, samples: Sequence[Sample], precision: str) -> Profile:
        """All samples together."""
        return Profile(
            Header(
                precision=precision,
                arithmetic=self.arithmetic,
                seed=self.seed,
                samples=len(samples),
                draws=self.draws,
                outputs=tuple(self._output(name, samples) for name in self.outputs),
                without_rule=tuple(self.without_rule),
                jumps=self.graph.jumps,
            ),
            [{name: one.values[name] for name in self.outputs} for one in samples],
            [{name: one.deviations[name] for name in self.outputs if name in one.deviations} for one in samples],
            [
                {key: value for key, value in one.margins.items() if key.rpartition("/")[0] in self.outputs}
                for one in samples
            ],
        )

    def _output(self, name: str, samples: Sequence[Sample]) -> OutputNoise:
        dtype = self.graph.types.get(name, "")
        storage = max(self.arithmetic.storage, _declared(dtype))
        blank = OutputNoise(name, dtype, "none", storage=storage)
        kinds = {one.values[name].dtype.kind for one in samples}
        unstable = next((one.unstable[name] for one in samples if name in one.unstable), "")
        decision = self.decisions.get(name)
        if unstable:
            return msgspec.structs.replace(blank, reason=unstable)
        if not kinds <= set("fbiu"):
            return msgspec.structs.replace(blank, reason=f"its elements are {dtype or 'no numbers'}")
        if decision is not None and all(f"{name}/{_key(decision)}" in one.margins for one in samples):
            return msgspec.structs.replace(blank, kind=decision.kind, margin=decision.node.op_type)
        if kinds == {"f"}:
            noisy = any(one.deviations[name].any() for one in samples)
            return msgspec.structs.replace(blank, kind="real" if noisy or dtype not in ("float32", "") else "exact")
        return msgspec.structs.replace(blank, kind="interval", margin="range of noisy evaluations")


def _key(decision: Decision) -> str:
    return "scores" if decision.kind == "ranking" else "low"


def _declared(dtype: str) -> float:
    from assay.core.dtype import UNIT_ROUNDOFF

    return UNIT_ROUNDOFF.get(dtype, 0.0)


def as_type(inputs: Tensors, dtype: Any) -> dict[str, Tensor]:
    """Every real input in one type, after the backend's own rounding of it."""
    wanted = np.dtype(dtype)
    with np.errstate(over="ignore"):
        return {
            name: array.astype(wanted) if is_floating(array.dtype.name) and array.dtype.itemsize > 1 else array
            for name, array in inputs.items()
        }


def named(names: Sequence[str], values: Sequence[Any]) -> dict[str, Tensor]:
    """Raises Lowering for a sequence or a map: only tensors can be compared."""
    found = {}
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, np.ndarray | np.generic):
            raise Lowering(f"Output '{name}' is a {type(value).__name__}, and only tensors can be compared.")
        found[name] = np.asarray(value)
    return found


def _same_classes(base: dict[str, Tensor], wide: dict[str, Tensor]) -> None:
    """Single precision must not overflow where double does not."""
    for name, value in base.items():
        if value.dtype.kind == "f" and not np.array_equal(np.isfinite(value), np.isfinite(wide[name])):
            raise FloatingPointError(name)


def _evaluator(proto: Any, weights: Tensors) -> WideEvaluator:
    """Raises Lowering for operators and forms that the evaluation has no code for."""
    try:
        return WideEvaluator(_copy(proto), weights=weights)
    except Lowering:
        raise
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise Lowering(f"the model cannot be evaluated in float64: {' '.join(str(error).split())[:300]}") from error


def _copy(proto: Any) -> Any:
    from onnx import ModelProto

    copied = ModelProto()
    copied.CopyFrom(proto)
    return copied
