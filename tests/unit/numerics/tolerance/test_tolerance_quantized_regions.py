"""What lies between two grids of eight bits is drawn in single precision, and its own roundings are none beside the grid's."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import parsed

from assay.numerics.oracle.batched.evaluation import Rows, evaluate_rows
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.hooks import Call
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.rules.rounding_steps import HalfStep, StepRecorder
from assay.numerics.tolerance.simulate.graph_study import study
from assay.numerics.tolerance.simulate.monte_carlo import NoiseSimulation
from assay.ports import Tensor

_BETWEEN = """
agraph (float[2, 3, 5, 5] x) => (float[2, 4, 5, 5] y) {
    qx = QuantizeLinear(x, s, zero)
    dx = DequantizeLinear(qx, s, zero)
    dw = DequantizeLinear(w, s, zero)
    c = Conv<pads = [1, 1, 1, 1]>(dx, dw, b)
    r = Relu(c)
    qr = QuantizeLinear(r, s, zero)
    y = DequantizeLinear(qr, s, zero)
}
"""


def _model(body: str = _BETWEEN, zero: Any = np.int8) -> onnx.ModelProto:
    model = parsed(body)
    drawn = np.random.default_rng(0)
    held = {
        "s": np.float32(0.05),
        "zero": np.asarray(0, zero),
        "w": drawn.integers(-99, 100, (4, 3, 3, 3)).astype(zero),
        "b": drawn.standard_normal(4).astype(np.float32),
    }
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in held.items())
    return model


def _x() -> Tensor:
    return np.random.default_rng(1).standard_normal((2, 3, 5, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_BETWEEN, {"dx", "dw", "c", "r"}),
        (_BETWEEN.replace("=> (", "=> (float[2, 4, 5, 5] r, "), set()),
        (_BETWEEN.replace("=> (", "=> (float[2, 4, 5, 5] e, ").replace("y =", "e = Exp(c)\ny ="), {"r"}),
        (_BETWEEN.replace("=> (", "=> (int8[2, 4, 5, 5] qr, "), set()),
        (_BETWEEN.replace("y = DequantizeLinear(qr, s, zero)", "y = Cast<to = 1>(qr)"), set()),
    ],
    ids=["all", "an output", "read elsewhere", "whole output", "not back"],
)
def test_gridded_is_what_goes_nowhere_but_onto_a_grid_of_eight_bits(body: str, expected: set[str]) -> None:
    assert study(_model(body)).gridded == expected


def test_a_grid_of_sixteen_bits_is_too_fine() -> None:
    assert study(_model(zero=np.int16)).gridded == frozenset()


def test_what_a_scale_is_made_of_goes_nowhere_onto_a_grid() -> None:
    body = _BETWEEN.replace(
        "qr = QuantizeLinear(r, s, zero)", "m = ReduceMax<keepdims = 0>(r)\nqr = QuantizeLinear(r, m, zero)"
    )
    assert study(_model(body)).gridded == frozenset()


class _Types(Rows):
    """Which type each operator computes in; `single` are the values that may be in single precision."""

    def __init__(self, single: frozenset[str]) -> None:
        self._single = single
        self.found: dict[str, str] = {}

    def touches(self, outputs: tuple[str, ...]) -> bool:
        return True

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        return outputs[0] in self._single

    def site(self, kind: str, value: Tensor, call: Call, operands: Any) -> Tensor:
        self.found[call.outputs[0]] = value.dtype.name
        return value

    def node(self, call: Call, results: Any, again: Any) -> Any:
        self.found[call.outputs[0]] = results[0].dtype.name
        return results


def test_only_what_is_gridded_is_computed_in_single_precision() -> None:
    model, count = _model(), 3
    evaluator, single = WideEvaluator(model), study(model).gridded
    x = np.stack([_x() * (1 + row / 8) for row in range(count)]).astype(np.float64)
    bias = np.stack([evaluator.rt_inits_["b"] + row for row in range(count)])
    probe = _Types(single)
    rows = evaluate_rows(evaluator, {"x": x, "b": bias}, ["x", "b"], count, probe, ["c", "y"])
    assert {name for name, kind in probe.found.items() if kind == "float32"} == {"dx", "c", "r", "qr"}
    assert probe.found["y"] == probe.found["qx"] == "float64"
    for row, (convolved, _) in enumerate(rows):
        (_, exact) = evaluator.evaluate({"x": x[row], "b": bias[row]}, ["c"])
        np.testing.assert_allclose(convolved, exact, rtol=0, atol=2.0**-20 * np.abs(exact).max())
        assert not np.array_equal(convolved, exact), "in double"


def test_draws_err_by_the_grid_alone_where_that_is_what_a_kernel_errs_by() -> None:
    model = _model()
    drawing = NoiseSimulation(model, study(model), arithmetic_of("float32"), 0)
    noisy: set[str] = set()
    original = NoiseSimulation._draw

    def kept(self: NoiseSimulation, number: int, inputs: Any, recorder: Any, *others: Any) -> None:
        noisy.update(outputs[0] for outputs, places in recorder.places.items() if places.noisy)
        original(self, number, inputs, recorder, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseSimulation, "_draw", kept)
        sample = drawing.sample(0, {"x": _x()})
    assert noisy == {"qx", "qr", "y"}
    assert np.count_nonzero(sample.deviations["y"] > 0.01), "no draw moved a step"


def test_a_pair_of_shakes_moves_by_the_same_numbers_the_other_way_round() -> None:
    value = np.random.default_rng(2).uniform(-50, 50, 4000)
    call = Call("QuantizeLinear", 21, (), {}, frozenset(), ("q",), "")
    steps = StepRecorder(Rows())
    steps.site("steps", np.rint(value) + 0.5, call, {})  # everything lies at a boundary
    shakes = [HalfStep(steps.found, (7,), 2.0**-10, turn) for turn in (1, 2, 3)]
    first, second, third = (
        shake.site("steps", np.rint(value) + 0.5, call, {}) - np.rint(value) - 0.5 for shake in shakes
    )
    assert np.all(np.sign(first) == -np.sign(second))
    assert np.all(np.abs(np.abs(first) - np.abs(second)) <= 1.0)
    assert abs(np.mean(np.sign(first) == np.sign(third)) - 0.5) < 0.1


def test_what_moved_by_less_than_a_deviation_and_lies_far_from_a_boundary_stays() -> None:
    call = Call("QuantizeLinear", 21, (), {}, frozenset(), ("q",), "")
    exact = np.array([4.0, 4.0, 4.0, 4.499])
    steps = StepRecorder(Rows())
    steps.site("steps", exact, call, {})
    moved = HalfStep(steps.found, (7,), 2.0**-10, 1).site(
        "steps", exact + np.array([2.0**-12, 2.0**-8, 0, 0]), call, {}
    )
    assert (np.abs(moved - exact) >= 1).tolist() == [False, True, False, True]
