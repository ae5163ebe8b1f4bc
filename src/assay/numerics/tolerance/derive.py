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
from assay.numerics.tolerance.contract import Arithmetic, arithmetic_of
from assay.numerics.tolerance.discrete import Decision, decision_of, interval, ranking
from assay.numerics.tolerance.graph import Graph, study
from assay.numerics.tolerance.joining import MOST, join, may_join, same, split
from assay.numerics.tolerance.noise import Diverged, Draw, Recorder
from assay.numerics.tolerance.profile import DRAWS, Header, OutputNoise, Profile
from assay.ports import Tensor, Tensors

AMPLIFIED = 2.0**9
"""Noise far enough above the rounding of the evaluation itself, and small enough not to cross a kink more often."""
CHECKS = 1
"""Draws that look whether amplifying was right: where it was not, one is off by an order of magnitude."""
CHECKED = 2
"""Evaluations (of one sample, or of several at once) that are looked at."""
MOST_VALUES = 1 << 28
"""Places times samples of one profile: some ten pictures of a large convolution net, minutes of work. Samples beyond are
judged by what the noisiest element of these was allowed."""
MEMORY_BYTES = 1 << 29
"""Of the values of one evaluation, roughly."""
BYTES_A_PLACE = 16
"""Its deviation, its value in double, and what lies between."""
_COARSE = 2.0**-13
_FINE = 2.0**-30


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
    from assay.numerics.tolerance.selftest import selftest

    deriving = Deriving(expanded(proto), arithmetic_of(precision, allowances), seed)
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

    def __init__(self, proto: Any, arithmetic: Arithmetic, seed: int) -> None:
        self._proto = proto
        self.graph: Graph = study(proto)
        self.arithmetic = arithmetic
        self.seed = seed
        self.outputs = [one.name for one in proto.graph.output]
        self.wide = _evaluator(proto)
        self.single = self._single(proto)
        self.amplified = self._amplification()
        self.unchecked = CHECKED
        self.without_rule: dict[str, None] = {}
        self.seconds = {"record": 0.0, "draws": 0.0}
        found = (decision_of(name, self.graph) for name in self.outputs)
        self.decisions: dict[str, Decision] = {one.output: one for one in found if one is not None}
        self.taps = tuple(dict.fromkeys(name for one in self.decisions.values() for name in one.taps))

    def _single(self, proto: Any) -> SingleEvaluator | None:
        """None where single precision is too coarse to show the noise, or where amplifying would cross jumps."""
        fine = self.arithmetic.storage < _COARSE
        if self.arithmetic.storage < _FINE or (fine and self.graph.jumps):
            return None
        try:
            return SingleEvaluator(_copy(proto))
        except (Lowering, ValueError):
            return None

    def _amplification(self) -> float:
        if self.single is not None:
            return 1.0 if self.arithmetic.storage >= _COARSE else AMPLIFIED
        return AMPLIFIED if self.arithmetic.storage < _FINE else 1.0

    def samples(self, inputs: Sequence[Tensors]) -> list[Sample]:
        """Oracle and noise of all samples, several at once where the model lets them."""
        try:
            return self._samples(inputs)
        except Bent:
            self.single, self.amplified = None, 1.0
            return self._samples(inputs)

    def _samples(self, inputs: Sequence[Tensors]) -> list[Sample]:
        found = [self._sample(0, inputs[0])] if inputs else []
        if found:
            inputs = inputs[: max(1, MOST_VALUES // max(1, found[0].recorded_bytes // BYTES_A_PLACE))]
        at_once = self._at_once(inputs, found)
        while len(found) < len(inputs):
            start = len(found)
            part = inputs[start : start + at_once]
            parts = self._together(start, part, found[0]) if len(part) > 1 else None
            if parts is None:
                at_once = 1
                parts = [self._sample(start, inputs[start])]
            found += parts
        for sample in found:
            for decision in self.decisions.values():
                self._decide(decision, sample)
        return found

    def _at_once(self, inputs: Sequence[Tensors], found: Sequence[Sample]) -> int:
        if not may_join(self._proto, inputs):
            return 1
        return int(max(1, min(MOST, MEMORY_BYTES // max(1, found[0].recorded_bytes))))

    def _together(self, start: int, inputs: Sequence[Tensors], first: Sample) -> list[Sample] | None:
        """None where the samples are not independent of each other after all."""
        try:
            whole = self._sample(start, join(inputs))
            with np.errstate(all="ignore"):
                last = self._exact(inputs[-1])
        except Lowering:
            return None
        values = split(whole.values, len(inputs), first.values)
        deviations = split(whole.deviations, len(inputs), first.deviations)
        margins = split(whole.margins, len(inputs), first.margins)
        if values is None or deviations is None or margins is None or whole.unstable or not same(values[-1], last):
            return None
        rows = zip(values, deviations, margins, strict=True)
        return [Sample(value, deviation, margin) for value, deviation, margin in rows]

    def _exact(self, inputs: Tensors) -> dict[str, Tensor]:
        return named([*self.outputs, *self.taps], self.wide.evaluate(as_type(inputs, np.float64), self.taps))

    def _sample(self, number: int, inputs: Tensors) -> Sample:
        sample = Sample()
        begin = time.perf_counter()
        recorder = Recorder(self.graph, self.arithmetic, keep=not self.graph.subgraphs)
        with observed_by(recorder), np.errstate(all="ignore"):
            sample.values = self._exact(inputs)
        sample.recorded_bytes = sum(one.nbytes for one in recorder.deviations) // 4 * BYTES_A_PLACE
        self.without_rule.update(recorder.without_rule)
        self.seconds["record"] += time.perf_counter() - begin
        begin = time.perf_counter()
        self._draw(number, inputs, recorder if not self.graph.subgraphs else None, sample)
        self.seconds["draws"] += time.perf_counter() - begin
        return sample

    def _draw(self, number: int, inputs: Tensors, recorder: Recorder | None, sample: Sample) -> None:
        try:
            self._draws(number, inputs, recorder, sample, self.single or self.wide, self.amplified)
            if self.unchecked and self.single is not None and self.amplified > 1.0:
                self.unchecked -= 1
                self._check_linear(number, inputs, recorder, sample)
        except (Diverged, Lowering, FloatingPointError):
            # Another way through the graph, or an operator that single precision cannot do.
            self._draws(number, inputs, None, sample, self.wide, 1.0)

    def _draws(
        self,
        number: int,
        inputs: Tensors,
        recorder: Recorder | None,
        sample: Sample,
        evaluator: Evaluator,
        amplified: float,
    ) -> None:
        names = [*self.outputs, *self.taps]
        if evaluator is self.wide:
            base = sample.values
        else:
            with np.errstate(all="ignore"):
                base = named(names, evaluator.evaluate(as_type(inputs, np.float32), self.taps))
            _same_classes(base, sample.values)
        squares = {name: np.zeros(value.shape) for name, value in base.items() if value.dtype.kind == "f"}
        lowest = {name: value for name, value in base.items() if value.dtype.kind in "biu"}
        highest = dict(lowest)
        sample.unstable = {}
        for turn in range(DRAWS):
            draw = Draw(self.graph, self.arithmetic, (self.seed, number, turn), amplified, recorder)
            feeds = self._feeds(evaluator, inputs, draw)
            with observed_by(draw), np.errstate(all="ignore"):
                noisy = named(names, evaluator.evaluate(feeds, self.taps))
            for name, value in noisy.items():
                if value.shape != base[name].shape:
                    sample.unstable[name] = f"its shape depends on rounding ({base[name].shape} or {value.shape})"
                elif name in squares:
                    with np.errstate(all="ignore"):
                        error = value.astype(np.float64) - base[name]
                    squares[name] += np.square(np.where(np.isfinite(error), error, 0.0))
                elif name in lowest:
                    lowest[name] = np.minimum(lowest[name], value)
                    highest[name] = np.maximum(highest[name], value)
        sample.deviations = {
            name: (np.sqrt(one / DRAWS) / amplified).astype(np.float32) for name, one in squares.items()
        }
        for name in lowest:
            sample.margins[f"{name}/low"] = np.asarray(lowest[name], np.float64)
            sample.margins[f"{name}/high"] = np.asarray(highest[name], np.float64)

    def _check_linear(self, number: int, inputs: Tensors, recorder: Recorder | None, sample: Sample) -> None:
        """Amplified noise, divided again, is too small where a root or a logarithm at its end, or chaos, bends it: a
        draw in double as it is must look like those. Raises Bent where they do not."""
        names = [*self.outputs, *self.taps]
        for turn in range(CHECKS):
            draw = Draw(self.graph, self.arithmetic, (self.seed, number, DRAWS + turn), 1.0, recorder)
            with observed_by(draw), np.errstate(all="ignore"):
                noisy = named(names, self.wide.evaluate(self._feeds(self.wide, inputs, draw), self.taps))
                straight = all(
                    _alike(noisy[name] - sample.values[name], deviation, DRAWS)
                    for name, deviation in sample.deviations.items()
                    if noisy[name].shape == sample.values[name].shape
                )
            if not straight:
                raise Bent

    def _feeds(self, evaluator: Evaluator, inputs: Tensors, draw: Draw) -> dict[str, Tensor]:
        """Inputs, and stored numbers as a backend may refold them; in a coarser flow everything is stored anew."""
        dtype = np.dtype(np.float64) if evaluator is self.wide else np.dtype(np.float32)
        feeds = as_type(inputs, dtype)
        coarse = self.arithmetic.storage > 2.0**-24
        if coarse:
            for name, value in feeds.items():
                if value.dtype == dtype and name in self.graph.data:
                    feeds[name] = draw.weight(value, self.arithmetic.storage)
        stored = (*self.graph.weights, *self.graph.others) if coarse else self.graph.weights
        for name in stored:
            if name not in feeds:
                feeds[name] = draw.weight(evaluator.rt_inits_[name], self.arithmetic.weights)
        return feeds

    def _decide(self, decision: Decision, sample: Sample) -> None:
        values = [sample.values[name] for name in decision.taps]
        deviations = [sample.deviations.get(name) for name in decision.taps]
        if any(one is None for one in deviations):
            return
        spread = [shrunk_deviation(one) for one in deviations if one is not None]
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


def _alike(error: Tensor, deviation: Tensor, draws: int) -> bool:
    """Whether one more draw lies where the others lead one to expect it: within half of every limit."""
    from assay.numerics.tolerance.statistics import statistics

    finite = np.isfinite(error)
    variance = np.where(finite, np.square(deviation.astype(np.float64)), 0.0)
    found = statistics([np.where(finite, error, 0.0)], [variance], [np.zeros(error.shape)], draws)
    return found.budgets["budget_used"] <= 0.5


def shrunk_deviation(deviation: Tensor) -> Tensor:
    """The standard deviation with the mean variance as nu pseudo-draws, as the statistics use it."""
    from assay.numerics.tolerance.statistics import PSEUDO_DRAWS

    variance = np.square(deviation.astype(np.float64))
    if not variance.size:
        return variance
    result: Tensor = np.sqrt((DRAWS * variance + PSEUDO_DRAWS * variance.mean()) / (DRAWS + PSEUDO_DRAWS))
    return result


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


def _evaluator(proto: Any) -> WideEvaluator:
    """Raises Lowering for operators and forms that the evaluation has no code for."""
    try:
        return WideEvaluator(_copy(proto))
    except Lowering:
        raise
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise Lowering(f"the model cannot be evaluated in float64: {' '.join(str(error).split())[:300]}") from error


def _copy(proto: Any) -> Any:
    from onnx import ModelProto

    copied = ModelProto()
    copied.CopyFrom(proto)
    return copied
