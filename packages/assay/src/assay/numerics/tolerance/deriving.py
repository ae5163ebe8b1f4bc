"""One model and contract on its way to a tolerance: the oracle and the noise of all samples."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from assay.core.defect import OpenRange
from assay.core.dtype import is_floating
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.numerics.steps import at_sample
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.derived_tolerance import DRAWS, DerivedTolerance, Header, OutputNoise
from assay.numerics.tolerance.judge.decisions import Decision, chosen_by, decision_of, interval, ranking
from assay.numerics.tolerance.rules.derivation_cost import affordable
from assay.numerics.tolerance.simulate.defect_places import defect_label, last_tensor, middle_tensor
from assay.numerics.tolerance.simulate.graph_study import Graph, study, untaken_branches
from assay.numerics.tolerance.simulate.monte_carlo import NoiseSimulation, NonlinearNoise
from assay.numerics.tolerance.simulate.noisy_evaluation import Sample
from assay.numerics.tolerance.simulate.sample_batching import MOST, group_by_shape, join, may_join, same, split
from assay.numerics.tolerance.simulate.spread import shrunk_deviation
from assay.ports import Tensors

FEWER = 4
"""Draws where there are MANY samples, or ENOUGH elements in every output: the statistics take all of them together. With
four draws of few elements 0.7 % of correct evaluations lay beyond the norm's limit, of more than 1,000 elements none."""
MANY = 4
ENOUGH = 1024
MEMORY_BYTES = 1 << 29
"""Of the values of one evaluation, roughly."""


class Deriving:
    """One model and contract: evaluators made once, samples one after the other."""

    def __init__(self, proto: Any, arithmetic: Arithmetic, seed: int, graph: Graph | None = None) -> None:
        self.proto = proto
        self.graph: Graph = graph or study(proto)
        self.arithmetic = arithmetic
        self.seed = seed
        self.drawing = NoiseSimulation(proto, self.graph, arithmetic, seed)
        self.wide = self.drawing.wide
        self.outputs = self.drawing.outputs
        self.middle = middle_tensor(self.wide, self.graph)
        self.last = last_tensor(self.wide, self.graph)
        self._samples_in_all = 0
        self.cost = 0
        """Of the first sample (`rules.derivation_cost`)."""
        self.before: dict[str, dict[str, Any]] = {}
        """By the label of an operator that a defect may be built into: of the first sample, what that changes nothing before."""
        decisions = (decision_of(name, self.graph) for name in self.outputs)
        self.decisions: dict[str, Decision] = {
            decision.output: decision for decision in decisions if decision is not None
        }
        self.drawing.decisive = {name: tuple(decision.node.output) for name, decision in self.decisions.items()}
        self.drawing.taps = tuple(dict.fromkeys(name for decision in self.decisions.values() for name in decision.taps))

    def samples(self, inputs: Sequence[Tensors]) -> list[Sample]:
        """Oracle and noise of all samples, several at once where the model lets them."""
        self.drawing.draws_by = lambda cost: self.how_many(affordable(cost, len(inputs), rounds=self.graph.rounds))
        try:
            return self._samples(inputs)
        except NonlinearNoise:
            self.drawing.unamplified()
            return self._samples(inputs)

    def once(
        self, inputs: Sequence[Tensors], fit: Callable[[DerivedTolerance], bool], precision: str
    ) -> DerivedTolerance | None:
        """The coarse profile; None where that of the first sample does not `fit`."""
        self.drawing.draws_by = lambda cost: self.how_many(affordable(cost, len(inputs), rounds=self.graph.rounds))
        self.drawing.once = True
        self._samples_in_all = len(inputs)
        try:
            first = self._sample(0, inputs[0])
            if not fit(self.profile([first], precision)):
                return None
            return self.profile(self._samples(inputs, first), precision)
        finally:
            self.drawing.once = False

    def how_many(self, samples: int) -> int:
        """All of them where the range of the draws is what is allowed, or where values jump."""
        smooth = not self.graph.jumps and not self.graph.subgraphs
        real = all(is_floating(self.graph.types.get(output, "")) or output in self.decisions for output in self.outputs)
        return FEWER if (samples >= MANY or self._fewest_elements() >= ENOUGH) and smooth and real else DRAWS

    def _fewest_elements(self) -> int:
        """Of any output, with the sizes that the model declares; what it leaves open may be 1."""
        shapes = (info.type.tensor_type.shape.dim for info in self.proto.graph.output)
        sizes = ([dim.dim_value if dim.HasField("dim_value") else 1 for dim in dims] for dims in shapes)
        return min((math.prod(size) for size in sizes), default=0)

    def _samples(self, inputs: Sequence[Tensors], first: Sample | None = None) -> list[Sample]:
        if not inputs:
            return []
        self._samples_in_all = len(inputs)
        samples = {0: first or self._sample(0, inputs[0])}
        self.cost = samples[0].cost
        inputs = inputs[: affordable(samples[0].cost, len(inputs), rounds=self.graph.rounds)]
        self._samples_in_all = len(inputs)
        for places in group_by_shape(inputs):
            self._group(places, inputs, samples)
        for sample in samples.values():
            for decision in self.decisions.values():
                self._decide(decision, sample)
        return [samples[place] for place in range(len(inputs))]

    def _group(self, places: Sequence[int], inputs: Sequence[Tensors], samples: dict[int, Sample]) -> None:
        """Samples of one shape: the first alone, the others together where the model lets them."""
        first = places[0]
        if first not in samples:
            samples[first] = self._sample(first, inputs[first])
        rest = list(places[1:])
        at_once = self._at_once([inputs[place] for place in places], samples[first])
        while rest:
            part, rest = rest[:at_once], rest[at_once:]
            parts = (
                self._together(part[0], [inputs[place] for place in part], samples[first]) if len(part) > 1 else None
            )
            if parts is None:
                at_once, rest = 1, part[1:] + rest
                parts = [self._sample(part[0], inputs[part[0]])]
            samples.update(zip(part, parts, strict=False))

    def _at_once(self, inputs: Sequence[Tensors], first: Sample) -> int:
        if not may_join(self.proto, inputs):
            return 1
        return int(max(1, min(MOST, MEMORY_BYTES // max(1, first.recorded_bytes))))

    def _together(self, start: int, inputs: Sequence[Tensors], first: Sample) -> list[Sample] | None:
        """None where the samples are not independent of each other after all."""
        try:
            whole = self._sample(start, join(inputs), joined=len(inputs))
            with np.errstate(all="ignore"):
                last, _ = self.drawing.exact(inputs[-1])
        except Lowering:
            return None
        values = split(whole.values, len(inputs), first.values)
        deviations = split(whole.deviations, len(inputs), first.deviations)
        margins = split(whole.margins, len(inputs), first.margins)
        if values is None or deviations is None or margins is None or whole.unstable or not same(values[-1], last):
            return None
        rows = zip(values, deviations, margins, strict=True)
        return [Sample(*row, decided=whole.decided, exact=whole.exact) for row in rows]

    def _sample(self, number: int, inputs: Tensors, *, joined: int = 1) -> Sample:
        at_sample(number + 1, self._samples_in_all)
        kept = {} if number else self._kept()
        every = list(dict.fromkeys(name for names in kept.values() for name in names))
        sample = self.drawing.sample(number, inputs, every, joined=joined)
        self.before |= {label: {name: sample.kept[name] for name in names} for label, names in kept.items()}
        return sample

    def _kept(self) -> dict[str, list[str]]:
        """The values before the operators that defects of the self-test are built into, by their labels."""
        nodes = [self.middle[0]] if self.middle is not None else []
        nodes += [self.last] if self.last is not None else []
        return {
            defect_label(node): self.wide.boundary(set(), partial(operator.eq, tuple(node.output)), self.outputs)
            for node in nodes
        }

    def _decide(self, decision: Decision, sample: Sample) -> None:
        values = [sample.values[name] for name in decision.taps]
        deviations = [sample.deviations.get(name) for name in decision.taps]
        if decision.kind == "ranking" and values[0].dtype.kind in "iu":  # equal or not, whatever their size
            values = [np.unique(values[0], return_inverse=True)[1].reshape(values[0].shape)]
            deviations = [np.zeros(values[0].shape)]
        if any(deviation is None for deviation in deviations):
            return
        ties = sample.margins.pop(f"{decision.output}/open", None)
        spread = [shrunk_deviation(deviation, self.drawing.draws) for deviation in deviations if deviation is not None]
        deviation = (
            ranking(decision, values[0], spread[0], self.graph)
            if decision.kind == "ranking"
            else interval(
                decision,
                self.wide,
                values,
                [array * (raw != 0) for array, raw in zip(spread, deviations, strict=True)],
                ties,
            )
        )
        for key, value in deviation.items():
            sample.margins[f"{decision.output}/{key}"] = value

    def profile(self, samples: Sequence[Sample], precision: str) -> DerivedTolerance:
        """All samples together."""
        return DerivedTolerance(
            Header(
                precision=precision,
                arithmetic=self.arithmetic,
                seed=self.seed,
                samples=len(samples),
                draws=self.drawing.draws,
                outputs=tuple(self._output(name, samples) for name in self.outputs),
                without_rule=tuple(self.drawing.without_rule),
                fallen=tuple(self.drawing.fallen),
                untaken=untaken_branches(self.proto.graph, self.drawing.met),
                jumps=self.graph.jumps,
            ),
            [{name: sample.values[name] for name in self.outputs} for sample in samples],
            [
                {name: sample.deviations[name] for name in self.outputs if name in sample.deviations}
                for sample in samples
            ],
            [
                {key: value for key, value in sample.margins.items() if key.rpartition("/")[0] in self.outputs}
                for sample in samples
            ],
        )

    def _output(self, name: str, samples: Sequence[Sample]) -> OutputNoise:
        dtype = self.graph.types.get(name, "")
        exact = dtype == "float32" and all(name in sample.exact for sample in samples)
        storage = 0.0 if exact else self.arithmetic.of(dtype).storage
        blank = OutputNoise(name, dtype, "none", storage=storage)
        if draw := self.graph.drawn.get(name):
            return msgspec.structs.replace(blank, kind="random", margin=draw.numbers)
        kinds = {sample.values[name].dtype.kind for sample in samples}
        unstable = next((sample.unstable[name] for sample in samples if name in sample.unstable), None)
        decision = self.decisions.get(name)
        if all(name in sample.decided for sample in samples) and not unstable and kinds == {"f"} and dtype == "float32":
            return msgspec.structs.replace(blank, kind="exact")
        if unstable:
            return msgspec.structs.replace(blank, why=unstable.why, shapes=unstable.shapes)
        if not kinds <= set("fbiu"):
            return msgspec.structs.replace(blank, why=noted(NoteCode.ELEMENTS_NOT_JUDGED, dtype=dtype))
        if decision is not None and all(f"{name}/{_key(decision)}" in sample.margins for sample in samples):
            return msgspec.structs.replace(blank, kind=decision.kind, margin=decision.node.op_type)
        if kinds == {"f"}:
            noisy = any(sample.deviations[name].any() for sample in samples)
            return msgspec.structs.replace(blank, kind="real" if noisy or dtype not in ("float32", "") else "exact")
        if chooser := chosen_by(name, self.graph):
            return msgspec.structs.replace(blank, kind="chosen", margin=chooser)
        return msgspec.structs.replace(blank, kind="interval", margin=OpenRange.NOISY_EVALUATIONS)


def _key(decision: Decision) -> str:
    return "scores" if decision.kind == "ranking" else "low"
