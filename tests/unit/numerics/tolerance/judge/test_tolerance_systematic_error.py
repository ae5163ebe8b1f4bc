"""What is wrong everywhere in the same way shows in signed sums, where element by element it lies below the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.judge.words.finding_text import finding_text
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import Call, Hook, observed_by
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.systematic_error import Side, groups, sums, systematic, width
from assay.ports import Tensor

OTHERS = ("budget_norm", "budget_element", "budget_slice")
Feeds = Sequence[Mapping[str, Tensor]]


class Otherwise(Hook):
    """Another correct engine: it requantizes with an error of its own, around `lean`."""

    def __init__(self, seed: int, steps: float, lean: float = 0.0) -> None:
        self._random = np.random.default_rng(seed)
        self._steps, self._lean = steps, lean

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        del call, operands
        noise = self._random.normal(self._lean, self._steps, value.shape)
        return (value + noise).astype(value.dtype) if kind == "steps" else value


WIDTH, ROWS, DEPTH = 96, 16, 5


def _network() -> onnx.ModelProto:
    """Products, each of whose results is put on a grid: a jump in a row reaches all of it."""
    lines = ["q0 = QuantizeLinear(x, s, zero)", "h0 = DequantizeLinear(q0, s, zero)"]
    drawn = np.random.default_rng(3)
    weights: dict[str, Any] = {"s": np.float32(0.04), "t": np.float32(0.06), "zero": np.int8(-3)}
    for layer in range(1, DEPTH + 1):
        weights[f"w{layer}"] = (drawn.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        weights[f"b{layer}"] = (0.3 * drawn.standard_normal(WIDTH)).astype(np.float32)
        lines += [
            f"a{layer} = Gemm(h{layer - 1}, w{layer}, b{layer})",
            f"q{layer} = QuantizeLinear(a{layer}, t, zero)",
            f"h{layer} = DequantizeLinear(q{layer}, t, zero)",
        ]
    body = "\n".join([*lines, f"y = MatMul(h{DEPTH}, w1)"])
    text = f'<ir_version: 10, opset_import: ["" : 21]>\ng (float[N, {WIDTH}] x) => (float[N, {WIDTH}] y) {{ {body} }}'
    model: onnx.ModelProto = parser.parse_model(text)
    model.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(weight), name) for name, weight in weights.items()
    )
    return model


def _feeds(samples: int, seed: int = 0) -> Feeds:
    drawn = np.random.default_rng([seed, samples])
    return [{"x": drawn.standard_normal((ROWS, WIDTH)).astype(np.float32)} for _ in range(samples)]


def _lie(node: str, place: int, value: Any) -> onnx.ModelProto:
    """The network, in which one node reads something else."""
    model = _network()
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), "wrong"))
    next(candidate for candidate in model.graph.node if candidate.output[0] == node).input[place] = "wrong"
    return model


def _judged(profile: DerivedTolerance, model: onnx.ModelProto, feeds: Feeds, probe: Hook | None = None) -> Any:
    evaluator = Evaluator(model)
    with observed_by(probe or Hook()):
        outputs = [{"y": evaluator.evaluate(feed)[0]} for feed in feeds]
    return judge_outputs(outputs, None, profile)["y"]


@pytest.fixture(scope="module")
def feeds() -> Feeds:
    return _feeds(6)


@pytest.fixture(scope="module")
def profile(feeds: Feeds) -> DerivedTolerance:
    return derive_model(_network(), feeds, "float32")


@pytest.mark.parametrize(
    "probe",
    [*(Otherwise(seed, 2.0**-10) for seed in range(6)), Otherwise(0, 0.0, 2.0**-18), Otherwise(0, 0.0, -(2.0**-10))],
    ids=[*(f"noise{seed}" for seed in range(6)), "ties up", "all of it down"],
)
def test_a_correct_engine_leans_to_no_side(profile: DerivedTolerance, feeds: Feeds, probe: Hook) -> None:
    judged = _judged(profile, _network(), feeds, probe)
    assert 0 < judged.metrics["budget_systematic"] < 1.0
    assert judged.metrics["budget_used"] < 1.0


@pytest.mark.parametrize(
    "lie",
    [("q3", 1, np.float32(0.0606)), ("q3", 2, np.int8(-2)), ("q4", 2, np.int8(-2)), ("q2", 2, np.int8(-2))],
    ids=["scale + 1 %", "zero point + 1", "zero point + 1, later", "zero point + 1, early"],
)
def test_a_small_defect_of_every_element_is_seen(
    profile: DerivedTolerance, feeds: Feeds, lie: tuple[str, int, Any]
) -> None:
    judged = _judged(profile, _lie(*lie), feeds)
    assert judged.metrics["budget_systematic"] > 1.0
    assert judged.findings


def test_it_sees_what_the_other_statistics_do_not(profile: DerivedTolerance, feeds: Feeds) -> None:
    judged = _judged(profile, _lie("q4", 1, np.float32(0.0603)), feeds)
    assert max(judged.metrics[other] for other in OTHERS) < 1.0, "no element, slice or norm says it"
    assert judged.metrics["budget_systematic"] == judged.metrics["budget_used"] > 1.0
    assert "common to" in finding_text(judged.findings[0]) or "repeat" in finding_text(judged.findings[0])


@pytest.mark.parametrize("samples", [1, 2, 4])
def test_few_samples_raise_no_alarm(samples: int) -> None:
    for seed in range(3):
        feeds = _feeds(samples, seed + 10)
        profile = derive_model(_network(), feeds, "float32", seed=seed)
        for engine in range(3):
            judged = _judged(profile, _network(), feeds, Otherwise(50 + engine, 2.0**-10))
            assert judged.metrics["budget_used"] <= 1.0, (seed, engine)


def test_sums_are_of_all_elements_and_of_every_index_as_they_are_and_weighted() -> None:
    error, oracle = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[0.0, 0.0, 0.0], [6.0, 6.0, 6.0]])
    assert groups(error.shape) == [(-1, 1), (0, 2), (1, 3)]
    assert sums(error, oracle).tolist() == [21, 6, 15, 5, 7, 9, 27, -18, 45, 9, 9, 9]
    assert width(error.shape) == 12


def test_samples_evaluated_together_have_sums_of_their_own(profile: DerivedTolerance) -> None:
    assert {margin["y/sums"].shape for margin in profile.margins} == {(1, width((ROWS, WIDTH)))}
    assert all(margin["y/up"].shape == (ROWS, WIDTH) for margin in profile.margins)


def test_jumps_that_cancel_in_every_draw_may_be_one_more() -> None:
    """One value that tips takes two elements along, to either side: their sum stays, until another tips by itself."""
    shape, jump = (1, 32), 0.1
    variance, tipped = np.full(shape, 1e-14), np.zeros(shape)
    variance[0, :2] = jump**2 / 8
    still = np.zeros(shape)
    sizes = np.zeros(width(shape))

    def side(error: Any) -> Side:
        return Side(error, np.linspace(-1, 1, 32).reshape(shape), variance, still, tipped, still, still, sizes, sizes)

    single, every = still.copy(), np.full(shape, jump)
    single[0, 7] = jump
    assert systematic([side(single)], 8).used <= 1
    assert systematic([side(every)], 8).used > 10


def test_one_number_of_a_grid_errs_alike_wherever_it_stands() -> None:
    """OpenVINO computes x * scale + offset; of an output that is one number everywhere every element has the same error."""
    model = parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[16, 16] x) => (float[16, 16] y) {
            q = QuantizeLinear(x, s, zero)
            y = DequantizeLinear(q, s, zero)
        }"""
    )
    stored = {"s": np.float32(8.774986e-06), "zero": np.int8(0)}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items())
    profile = derive_model(model, [{"x": np.zeros((16, 16), np.float32)}] * 4, "float32")
    deviation = float(np.mean([sample["y"].mean() for sample in profile.deviation]))
    for factor, right in ((2.0, True), (16.0, False)):
        answer = [{"y": np.full((16, 16), -factor * deviation, np.float32)}] * 4
        assert (judge_outputs(answer, None, profile)["y"].metrics["budget_used"] <= 1.0) == right
