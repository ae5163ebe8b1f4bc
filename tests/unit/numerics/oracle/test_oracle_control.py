"""Loop, Scan and pooling over regions against what the standard says of them, written out in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

LOOP = """g (float[2, 3] x, bool c) => (float[2, 3] last, float[n, 2, 3] all, float[n] sums) {
    n = Constant<value_int=3>()
    last, all, sums = Loop(n, c, x) <body = b (int64 i, bool go, float[2, 3] a)
        => (bool go_on, float[2, 3] next, float[2, 3] one, float total) {
        go_on = Identity(go)
        next = Sin(a)
        one = Exp(next)
        total = ReduceSum<keepdims=0>(one)
    }>
}"""
SCAN = """g (float[2] s, float[2, 3] x) => (float[2] f, float[2, 3] all) {
    f, all = Scan<num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1],
        scan_output_directions=[1], body = b (float[2] a, float[2] v) => (float[2] next, float[2] one) {
        next = Add(a, v)
        one = Mul(next, next)
    }>(s, x)
}"""


def _model(text: str, opset: int = 21) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    return model


def _noise(*shape: int) -> Any:
    return np.random.default_rng(shape).standard_normal(shape)


@pytest.mark.parametrize("evaluator", [Evaluator, WideEvaluator])
def test_a_loop_stacks_along_a_new_axis(evaluator: type[Evaluator]) -> None:
    dtype = np.float64 if evaluator is WideEvaluator else np.float32
    x = _noise(2, 3).astype(dtype)
    last, every, sums = evaluator(_model(LOOP)).evaluate({"x": x, "c": np.array(True)})
    steps = [np.sin(x), np.sin(np.sin(x)), np.sin(np.sin(np.sin(x)))]
    assert np.allclose(last, steps[-1])
    assert np.allclose(every, np.exp(np.stack(steps)))
    assert np.allclose(sums, np.exp(np.stack(steps)).sum(axis=(1, 2)))


def test_a_loop_that_never_runs_gives_nothing_of_the_right_shape() -> None:
    x = _noise(2, 3)
    last, every, sums = WideEvaluator(_model(LOOP)).evaluate({"x": x, "c": np.array(False)})
    assert np.array_equal(last, x)
    assert every.shape == (0, 2, 3)
    assert sums.shape == (0,)


def test_a_scan_goes_along_any_axis_either_way() -> None:
    s, x = _noise(2), _noise(2, 3)
    final, every = WideEvaluator(_model(SCAN)).evaluate({"s": s, "x": x})
    # Read from the last column on; each new one is put before the others.
    columns = [s + x[:, 2], s + x[:, 2] + x[:, 1], s + x.sum(axis=1)]
    assert np.allclose(final, columns[2])
    assert np.allclose(every, np.stack([np.square(column) for column in reversed(columns)], axis=1))


def test_a_scan_of_opset_8_goes_through_a_batch() -> None:
    text = """g (float[2, 2] s, float[2, 3, 2] x) => (float[2, 2] f, float[2, 3, 2] all) {
        f, all = Scan<num_scan_inputs=1, body = b (float[2] a, float[2] v) => (float[2] next, float[2] one) {
            next = Add(a, v)
            one = Identity(next)
        }>(, s, x)
    }"""
    s, x = _noise(2, 2), _noise(2, 3, 2)
    final, every = WideEvaluator(_model(text, opset=8)).evaluate({"s": s, "x": x})
    assert np.allclose(every, s[:, None] + np.cumsum(x, axis=1))
    assert np.allclose(final, every[:, -1])


def test_a_loop_has_a_tolerance_that_sees_a_wrong_step() -> None:
    model = _model(LOOP)
    feeds = {"x": _noise(2, 3).astype(np.float32), "c": np.array(True)}
    profile = derive_model(model, [feeds], "float32")
    names = [value.name for value in model.graph.output]
    right = dict(zip(names, Evaluator(model).evaluate(feeds), strict=True))
    assert all(output.metrics["budget_used"] < 1 for output in judge_outputs([right], None, profile).values())
    wrong = {**right, "all": right["all"] * np.float32(1.0001)}
    assert judge_outputs([wrong], None, profile)["all"].metrics["budget_used"] > 1


def test_regions_and_norms() -> None:
    x = _noise(2, 3, 8, 8)
    (norm,) = WideEvaluator(_model("g (float[2,3,8,8] x) => (float[2,3,1,1] y) { y = GlobalLpPool<p=3>(x) }")).evaluate(
        {"x": x}
    )
    assert np.allclose(norm[..., 0, 0], (np.abs(x) ** 3).sum(axis=(2, 3)) ** (1 / 3))
    text = "g (float[2,3,8,8] x, float[1,5] r) => (float[1,3,2,2] y) { y = MaxRoiPool<pooled_shape=[2,2]>(x, r) }"
    (answer,) = WideEvaluator(_model(text)).evaluate({"x": x, "r": np.array([[1.0, 2, 0, 5, 3]])})
    region = x[1, :, 0:4, 2:6]
    cells = [[region[:, i : i + 2, j : j + 2].max(axis=(1, 2)) for j in (0, 2)] for i in (0, 2)]
    assert np.array_equal(answer[0], np.moveaxis(np.array(cells), 2, 0))


def test_what_cannot_be_raised_is_refused_by_name() -> None:
    text = '<ir_version: 13, opset_import: ["" : 26]>\n'
    text += "g (float[1, 4] x) => (int32[1, 4] y) { e = Exp(x) y = BitCast<to=6>(e) }"
    with pytest.raises(Lowering, match="BitCast"):
        derive_model(parser.parse_model(text), [{"x": np.ones((1, 4), np.float32)}], "float32")


def test_drawn_indices_are_as_likely_as_they_should_be() -> None:
    text = "g (float[2, 3] x) => (int32[2, 4000] y) { y = Multinomial<sample_size=4000, seed=1.0>(x) }"
    shares = np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]])
    with np.errstate(divide="ignore"):
        (answer,) = WideEvaluator(_model(text)).evaluate({"x": np.log(shares)})
    assert answer.dtype == np.int32
    counted = np.stack([np.bincount(row, minlength=3) / 4000 for row in answer])
    assert np.allclose(counted, shares, atol=0.04)


@pytest.mark.parametrize("operator", ["Swish", "AffineGrid"])
def test_functions_that_name_no_attribute_get_the_standards_own(operator: str) -> None:
    texts = {
        "Swish": "g (float[4] x) => (float[4] y) { y = Swish(x) }",
        "AffineGrid": "g (float[1, 2, 3] x) => (float[1, 2, 2, 2] y) { s = Constant<value_ints=[1, 1, 2, 2]>()\n"
        " y = AffineGrid(x, s) }",
    }
    x = _noise(4) if operator == "Swish" else _noise(1, 2, 3)
    (y,) = WideEvaluator(_model(texts[operator], opset=24)).evaluate({"x": x})
    if operator == "Swish":
        assert np.allclose(y, x / (1 + np.exp(-x)))
    else:
        corner = np.array([-0.5, -0.5, 1.0])  # the middle of the first of two pixels
        assert np.allclose(y[0, 0, 0], x[0] @ corner)


@pytest.mark.parametrize("shape", [(1, 5, 2, 3), (3, 4, 2), (2, 2, 3, 1)])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_response_of_neighbours_reaches_every_channel_whatever_the_batch(shape: tuple[int, ...], size: int) -> None:
    x = _noise(*shape)
    text = f"g (float[{', '.join(map(str, shape))}] x) => (float[n] y) {{ y = LRN<size={size}, alpha=0.5, beta=0.7, bias=2.0>(x) }}"
    (y,) = WideEvaluator(_model(text)).evaluate({"x": x})
    total = np.zeros_like(x)
    for here in range(shape[1]):
        for there in range(here - (size - 1) // 2, here + -(-(size - 1) // 2) + 1):
            total[:, here] += x[:, there] ** 2 if 0 <= there < shape[1] else 0
    assert np.allclose(y, x / (2.0 + np.float32(0.5) / size * total) ** np.float32(0.7), rtol=1e-12)


def test_a_recurrent_cell_may_have_any_activation_of_the_standard() -> None:
    x, w, r = _noise(2, 1, 3), _noise(1, 4, 3), _noise(1, 4, 4)
    inputs = "float[2,1,3] x, float[1,4,3] w, float[1,4,4] r"
    text = f'g ({inputs}) => (float[2,1,1,4] y) {{ y = RNN<hidden_size=4, activations=["Relu"]>(x, w, r) }}'
    (y,) = WideEvaluator(_model(text)).evaluate({"x": x, "w": w, "r": r})
    first = np.maximum(x[0] @ w[0].T, 0)
    assert np.allclose(y[:, 0], [first, np.maximum(x[1] @ w[0].T + first @ r[0].T, 0)], rtol=1e-12)
