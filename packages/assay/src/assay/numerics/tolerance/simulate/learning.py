"""Where a model has no evaluation in double, its noise is learnt from a plain engine: how far its answers move when what it is fed
and what it weighs move by a few units of roundoff.

A right engine rounds in other places, and a perturbation of every weight and every input by some units reaches each of them: the
spread of the answers is that of right engines, jumps of quantized values included. What no perturbation shows (a
fault that the plain engine has itself) no such tolerance sees: the answers are those of that engine, and are told to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from onnx import ModelProto, NodeProto, numpy_helper

from assay.core.defect import Defect, DefectKind, OpenRange
from assay.core.dtype import dtype_name, is_floating
from assay.core.note import Note, NoteCode, noted
from assay.errors import Lowering
from assay.numerics.steps import at_draw
from assay.numerics.tolerance.arithmetic import Arithmetic, arithmetic_of
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header, OutputNoise, Tried
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.rules.rounding_steps import TIPPING
from assay.numerics.tolerance.simulate.graph_study import CONTROL, Graph, study
from assay.numerics.tolerance.simulate.spread import of_another_shape
from assay.ports import Tensor, Tensors

DRAWS = 16
"""Perturbed runs: twice those of a derivation, which knows where noise comes from. The statistics take the uncertainty of so many
draws into account (`statistics.PSEUDO_DRAWS`)."""
LOUD = 4
"""Further runs with perturbations TIPPING times as large, where values are rounded to a grid."""
FEWEST = 4
UNITS = 4.0
"""Of roundoff, that every weight and every input moves by at most."""
SAMPLES = 16
"""Those beyond are judged by what the noisiest element of these was allowed."""
_LEVELS = 127
_OF_REALS = {"DequantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "QAttention"}
"""Of the operators with grids those that round real numbers, or none."""
_FAULT = 1.01
_TRIED = 3

Run = Callable[[ModelProto, Sequence[Tensors], int], list[dict[str, Any]]]
"""The answers of the plain engine to all samples; the number of the run may choose how many threads it has."""
Answers = list[dict[str, Tensor]]


def learn(
    proto: ModelProto,
    inputs: Sequence[Tensors],
    precision: str,
    run: Run,
    *,
    engine: str,
    why: Note,
    seed: int = 0,
    allowances: tuple[str, ...] = (),
) -> DerivedTolerance:
    """The profile of a model that `engine` runs; `why` it has no evaluation in double. The model is left as it is.

    Raises UsageError for a precision without arithmetic, Lowering where there is nothing to perturb or where too few runs end well."""
    arithmetic = arithmetic_of(precision, allowances)
    inputs = inputs[:SAMPLES]
    perturbing = _Perturbing(proto, inputs, arithmetic, seed)
    base = _tensors(run(proto, inputs, 0))
    draws = list(_draws(perturbing, run, 1.0, range(1, DRAWS + 1)))
    if len(draws) < FEWEST:
        raise Lowering(noted(NoteCode.TOO_FEW_DRAWS, ended=len(draws), count=DRAWS, engine=engine))
    loud: list[Answers] = []
    if perturbing.jumps:
        loud = list(_draws(perturbing, run, TIPPING, range(DRAWS + 1, DRAWS + LOUD + 1)))
    names = [value.name for value in proto.graph.output if all(value.name in sample for sample in base)]
    outputs = tuple(_output(name, base, draws, perturbing.graph, arithmetic) for name in names)
    real = [output.name for output in outputs if output.kind == "real"]
    profile = DerivedTolerance(
        Header(
            precision=precision,
            arithmetic=arithmetic,
            seed=seed,
            samples=len(inputs),
            draws=len(draws),
            outputs=outputs,
            jumps=perturbing.jumps,
            learnt=engine,
            why=why,
        ),
        [{name: _wide(sample[name]) for name in names} for sample in base],
        [{name: _deviation(name, at, base, draws) for name in real} for at in range(len(inputs))],
        [_margins(at, outputs, base, draws, loud) for at in range(len(inputs))],
    )
    return _tried(profile, perturbing, run)


class _Perturbing:
    """Inputs and weights of one model, moved by some units of the type that each is stored in."""

    def __init__(self, proto: ModelProto, inputs: Sequence[Tensors], arithmetic: Arithmetic, seed: int) -> None:
        self.graph: Graph = study(proto, inputs)
        self._proto = proto
        self._inputs = inputs
        self._arithmetic = arithmetic
        self._seed = seed
        rounding = {node.op_type for node in proto.graph.node if _rounds(node)}
        self.jumps = bool(rounding)
        # Where reals go onto a grid, no more than a quotient is left open of a step; where grids meet, fixed-point arithmetic is.
        self._open = arithmetic.steps if rounding - _OF_REALS else UNITS * arithmetic.accumulate * 255
        steering = {node.input[at] for node in proto.graph.node for at in _controls(node)}
        self._fed = [
            name
            for name, value in (inputs[0] if inputs else {}).items()
            if is_floating(dtype_name(value.dtype)) and name not in steering
        ]
        self.weights = [
            at
            for at, tensor in enumerate(proto.graph.initializer)
            if self._is_real(tensor.name) and tensor.name not in steering
        ]
        if not self._fed and not self.weights:
            raise Lowering(noted(NoteCode.NOTHING_REAL))

    def moved(self, number: int, louder: float) -> tuple[ModelProto, Sequence[Tensors]]:
        """Model and inputs of one run."""
        random = np.random.default_rng((self._seed, number))

        def move(value: Tensor) -> Tensor:
            unit = self._arithmetic.of(dtype_name(value.dtype)).storage
            wide = value.astype(np.float64)
            with np.errstate(all="ignore"):
                by = UNITS * unit * np.abs(wide) + (self._step(wide) if self.jumps else 0.0)
                return np.asarray((wide + louder * by * random.uniform(-1.0, 1.0, value.shape)).astype(value.dtype))

        model = self.changed(self.weights, move)
        fed = [
            {name: move(value) if name in self._fed else value for name, value in sample.items()}
            for sample in self._inputs
        ]
        return model, fed

    def _step(self, value: Tensor) -> float:
        """What is left open of a step, were these on a grid of eight bits: in a quantized model ties are tipped by that, and a
        perturbation by roundoff alone would show next to none of them."""
        finite = np.abs(value[np.isfinite(value)])
        return self._open * math.sqrt(3) * float(finite.max(initial=0.0)) / _LEVELS

    def changed(self, weights: Sequence[int], change: Callable[[Tensor], Tensor]) -> ModelProto:
        """A copy with these initializers, by number, changed."""
        model = ModelProto()
        model.CopyFrom(self._proto)
        for at in weights:
            changed_weights = model.graph.initializer[at]
            changed_weights.CopyFrom(
                numpy_helper.from_array(
                    change(np.asarray(numpy_helper.to_array(changed_weights))), changed_weights.name
                )
            )
        return model

    def faults(self) -> Iterator[tuple[Defect, ModelProto, Sequence[Tensors]]]:
        """The largest weights, each a hundredth too large, and of the scales of grids the one in the middle; the inputs where there
        are none."""
        initializers = self._proto.graph.initializer
        largest = sorted(self.weights, key=lambda at: -math.prod(initializers[at].dims))[:_TRIED]
        scales = {node.input[at] for node in self._proto.graph.node if _rounds(node) for at in _controls(node)}
        controls = [
            at
            for at, initializer in enumerate(initializers)
            if initializer.name in scales and self._is_real(initializer.name)
        ]
        for at in (*largest, *controls[len(controls) // 2 :][:1]):
            defect = Defect(DefectKind.TENSOR_ENLARGED, initializers[at].name, _FAULT)
            yield defect, self.changed([at], _enlarged), self._inputs
        if not largest and not controls:
            larger = [{**sample, **{name: _enlarged(sample[name]) for name in self._fed}} for sample in self._inputs]
            yield Defect(DefectKind.INPUTS_ENLARGED, size=_FAULT), self._proto, larger

    def _is_real(self, name: str) -> bool:
        return is_floating(self.graph.types.get(name, ""))


def _enlarged(value: Tensor) -> Tensor:
    return np.asarray((value.astype(np.float64) * _FAULT).astype(value.dtype))


def _controls(node: NodeProto) -> list[int]:
    """Where an operator takes a shape, a scale of a grid or a bound: every engine has these as they are."""
    return [at for at in CONTROL.get(node.op_type, ()) if at < len(node.input)]


def _rounds(node: NodeProto) -> bool:
    """Whether it puts values on a grid, by its name: these are operators that nothing else is known of, too."""
    return any(part in node.op_type for part in ("Quant", "QLinear", "QGemm", "QAttention", "Round", "Floor", "Ceil"))


def _draws(perturbing: _Perturbing, run: Run, louder: float, numbers: Sequence[int]) -> Iterator[Answers]:
    """What perturbed runs answer; one that is refused (an index moved out of range) says nothing."""
    for number in numbers:
        at_draw(number, numbers[-1])
        model, fed = perturbing.moved(number, louder)
        try:
            yield _tensors(run(model, fed, number))
        except Lowering:
            continue


def _tensors(answers: Sequence[dict[str, Any]]) -> Answers:
    """Those that are numbers."""
    return [
        {
            name: np.asarray(value)
            for name, value in sample.items()
            if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fbiuV"
        }
        for sample in answers
    ]


def _wide(value: Tensor) -> Tensor:
    return value.astype(np.float64) if is_floating(dtype_name(value.dtype)) else value


def _output(name: str, base: Answers, draws: Sequence[Answers], graph: Graph, arithmetic: Arithmetic) -> OutputNoise:
    dtype = dtype_name(base[0][name].dtype)
    blank = OutputNoise(name, dtype, "none", storage=arithmetic.of(dtype).storage)
    if draw := graph.drawn.get(name):
        return OutputNoise(name, dtype, "random", margin=draw.numbers, storage=blank.storage)
    shapes = {tuple(answers[at][name].shape for at in range(len(base))) for answers in (base, *draws)}
    if len(shapes) > 1:
        of_a_sample = next(sizes for at in range(len(base)) if len(sizes := {shape[at] for shape in shapes}) > 1)
        unstable = of_another_shape(*sorted(of_a_sample)[:2])
        return OutputNoise(name, dtype, "none", unstable.why, storage=blank.storage, shapes=unstable.shapes)
    if is_floating(dtype):
        return OutputNoise(name, dtype, "real", storage=blank.storage)
    return OutputNoise(name, dtype, "interval", margin=OpenRange.PERTURBED_RUNS)


def _errors(name: str, at: int, base: Answers, draws: Sequence[Answers]) -> Tensor:
    """A row for each draw; nothing where it is not finite."""
    exact = _wide(base[at][name])
    with np.errstate(all="ignore"):
        rows = np.stack([_wide(draw[at][name]) - exact for draw in draws])
    return np.asarray(np.where(np.isfinite(rows), rows, 0.0))


def _deviation(name: str, at: int, base: Answers, draws: Sequence[Answers]) -> Tensor:
    return np.asarray(np.sqrt(np.mean(np.square(_errors(name, at, base, draws)), axis=0)), np.float32)


def _margins(
    at: int, outputs: Sequence[OutputNoise], base: Answers, draws: Sequence[Answers], loud: Sequence[Answers]
) -> dict[str, Tensor]:
    """Between what whole numbers moved; how far louder runs jump, where there are any."""
    margins: dict[str, Tensor] = {}
    for output in outputs:
        name = output.name
        if output.kind == "interval":
            every = np.stack([answers[at][name] for answers in (base, *draws)])
            margins |= {f"{name}/low": every.min(axis=0), f"{name}/high": every.max(axis=0)}
        alike = [answers for answers in loud if answers[at][name].shape == base[at][name].shape]
        if output.kind == "real" and alike:
            reach = np.abs(_errors(name, at, base, alike)).max(axis=0).astype(np.float32)
            margins |= {f"{name}/tipped": reach, f"{name}/shaken": reach}
    return margins


def _tried(profile: DerivedTolerance, perturbing: _Perturbing, run: Run) -> DerivedTolerance:
    """With what the tolerance makes of faults that are built in."""
    tried = []
    exact = profile.oracle
    for defect, model, fed in perturbing.faults():
        try:
            answers = _tensors(run(model, fed, 0))
        except Lowering:
            continue
        judged = judge_outputs(answers, None, profile)
        changed = [
            name
            for name in judged
            if any(not np.array_equal(answer[name], other[name]) for answer, other in zip(answers, exact, strict=True))
        ]
        if not changed:
            continue
        budgets = {name: judged[name].metrics.get("budget_used", 0.0) for name in changed}
        detected_by = tuple(name for name in changed if budgets[name] > 1.0)
        missed = tuple(name for name in changed if budgets[name] <= 1.0)
        tried.append(Tried(defect, max(budgets.values()), bool(detected_by), detected_by, missed))
    header = msgspec.structs.replace(profile.header, selftest=tuple(tried))
    return DerivedTolerance(header, profile.oracle, profile.deviation, profile.margins)
