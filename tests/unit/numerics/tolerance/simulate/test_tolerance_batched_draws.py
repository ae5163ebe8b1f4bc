"""Draws evaluated together are the draws that each would be alone."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.numerics.oracle.batched import evaluation
from assay.numerics.oracle.batched.operator import Operator
from assay.numerics.oracle.hooks import Values
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.rules import rounding_sites
from assay.numerics.tolerance.simulate import monte_carlo, site_recorder
from assay.ports import Tensor

NETWORK = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2, 3, 8, 8] x) => (float[2, 5] y, int64[2] best, float[2, 3, 8, 8] moved) {
    c = Conv<pads=[1, 1, 1, 1]>(x, w, b)
    n = BatchNormalization(c, scale, shift, mean, variance)
    a = HardSwish(n)
    p = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(a)
    t = Transpose<perm=[2, 0, 1, 3]>(p)
    s = Reshape(t, steps)
    l, last = LSTM<hidden_size=5>(s, lw, lr, lb)
    q = Squeeze(last, zero)
    h = Erf(q)
    y = Softmax<axis=-1>(h)
    best = ArgMax<axis=-1, keepdims=0>(y)
    moved = Relu(x)
}"""
SHAPES = {
    "w": (6, 3, 3, 3),
    "b": (6,),
    "scale": (6,),
    "shift": (6,),
    "mean": (6,),
    "lw": (1, 20, 24),
    "lr": (1, 20, 5),
    "lb": (1, 40),
}


def _noise(*shape: int) -> Tensor:
    return (np.random.default_rng([9, *shape]).standard_normal(shape) * 0.4).astype(np.float32)


def _network() -> onnx.ModelProto:
    model = parser.parse_model(NETWORK)
    values = {name: _noise(*shape) for name, shape in SHAPES.items()} | {"variance": np.square(_noise(6, 1)[:, 0]) + 1}
    values |= {"steps": np.array([4, 2, 24], np.int64), "zero": np.array([0], np.int64)}
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items())
    return model


@pytest.mark.parametrize(("at_once", "parts"), [(monte_carlo.AT_ONCE, 1), (3 * 6 * 2 * 8 * 8, 3)])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_draws_together_are_what_each_is_alone(
    precision: str, at_once: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, feeds = _network(), {"x": _noise(2, 3, 8, 8)}
    evaluated: list[int] = []
    original = evaluation.evaluate_rows

    def counted(*arguments: object) -> object:
        evaluated.append(1)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(monte_carlo, "evaluate_rows", counted)
    monkeypatch.setattr(monte_carlo, "AT_ONCE", at_once)
    together = derive_model(model, [feeds], precision)
    assert len(evaluated) >= parts, "not as many at once as there is room for"
    assert parts > 1 or len(evaluated) == 1
    monkeypatch.setattr(monte_carlo, "AT_ONCE", 0)
    alone = derive_model(model, [feeds], precision)
    assert together.header.outputs == alone.header.outputs
    assert not together.deviation[0]["moved"].any() or precision != "float32"
    for name, deviation in alone.deviation[0].items():
        np.testing.assert_allclose(together.deviation[0][name], deviation, rtol=1e-2, atol=1e-3 * deviation.max())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_noise_made_at_once_is_what_each_place_would_make(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _network(), {"x": _noise(2, 3, 8, 8)}
    made: list[int] = []
    original = rounding_sites.Together.__init__

    def counted(self: rounding_sites.Together, *arguments: object, **named: object) -> None:
        made.append(1)
        original(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(rounding_sites.Together, "__init__", counted)
    at_once = derive_model(model, [feeds], precision)
    assert made, "every place made its own"
    monkeypatch.setattr(rounding_sites, "MANY", 1 << 30)
    monkeypatch.setattr(site_recorder, "FEW", 1 << 30)
    one_by_one = derive_model(model, [feeds], precision)
    for name, deviation in one_by_one.deviation[0].items():
        np.testing.assert_array_equal(at_once.deviation[0][name], deviation)


LOOP = """<ir_version: 10, opset_import: ["" : 21]>
g (float[6, 16] x) => (float[6, 8] y) {
    count = Constant<value: tensor = int64 {6}>()
    go = Constant<value: tensor = bool {1}>()
    start = Constant<value: tensor = int64[1] {0}>()
    none = ReduceSum<keepdims=0>(u, start)
    last, y = Loop(count, go, none) <body = body (int64 i, bool c, float[8] h) => (bool again, float[8] next, float[8] row) {
        again = Identity(c)
        here = Gather(x, i)
        seen = MatMul(here, w)
        back = MatMul(h, u)
        sum = Add(seen, back)
        next = Tanh(sum)
        row = Identity(next)
    }>
}"""


def _loop() -> onnx.ModelProto:
    model = parser.parse_model(LOOP)
    values = {"w": _noise(16, 8), "u": _noise(8, 8)}
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in values.items())
    return model


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_draws_of_a_loop_together_are_what_each_is_alone(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _loop(), {"x": _noise(6, 16)}
    evaluated: list[int] = []
    original = evaluation.evaluate_rows

    def counted(*arguments: object) -> object:
        evaluated.append(1)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(monte_carlo, "evaluate_rows", counted)
    together = derive_model(model, [feeds], precision)
    assert len(evaluated) == 1
    monkeypatch.setattr(monte_carlo, "AT_ONCE", 0)
    alone = derive_model(model, [feeds], precision)
    assert together.header.outputs == alone.header.outputs
    for name, deviation in alone.deviation[0].items():
        # By itself a draw asks the rules about its own values, which differ by its noise.
        np.testing.assert_allclose(together.deviation[0][name], deviation, rtol=0.05, atol=1e-2 * deviation.max())


def test_a_form_that_fails_in_rows_is_told_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _network(), {"x": _noise(2, 3, 8, 8)}
    sound = derive_model(model, [feeds], "float32")
    assert sound.header.fallen == ()
    lift = evaluation.LIFTS["LSTM"]

    def broken(operator: Operator) -> Values | None:
        lift(operator)  # its noise has been drawn by then
        raise ValueError("no such axis")

    monkeypatch.setitem(evaluation.LIFTS, "LSTM", broken)
    fallen = derive_model(model, [feeds], "float32")
    assert fallen.header.fallen == ("LSTM: ValueError: no such axis",)
    for name, deviation in sound.deviation[0].items():
        np.testing.assert_allclose(fallen.deviation[0][name], deviation, rtol=0.8, atol=0.2 * deviation.max())
