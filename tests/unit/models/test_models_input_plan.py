"""Inputs planned from graphs of many kinds: each is taken by unoptimised ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from planned_models import Weights, answers, made, planned, rows

from assay.core.input_plan import InputPlan
from assay.judge.words.constraint_text import constraint_text

U_NET = """
u (float[N, 3, H, W] x) => (float[N, 4, ?, ?] y) {
  a = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (x, w0)
  b = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (a, w1)
  c = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (b, w1)
  d = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (c, w1)
  e = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (d, w1)
  e2 = Resize <mode="nearest"> (e, none, twice)
  d1 = Add (e2, d)
  d2 = Resize <mode="nearest"> (d1, none, twice)
  c1 = Add (d2, c)
  c2 = Resize <mode="nearest"> (c1, none, twice)
  b1 = Add (c2, b)
  b2 = Resize <mode="nearest"> (b1, none, twice)
  a1 = Add (b2, a)
  y = Identity (a1)
}"""


def test_sizes_that_five_strides_divide(tmp_path: Path) -> None:
    path = made(
        tmp_path,
        U_NET,
        {
            "w0": rows(4, 3, 3, 3),
            "w1": rows(4, 4, 3, 3),
            "none": np.zeros(0, np.float32),
            "twice": np.array([1, 1, 2, 2], np.float32),
        },
    )
    plan = planned(path)
    assert plan.sizes["H"] % 16 == plan.sizes["W"] % 16 == 0
    assert plan.sizes["N"] == 1
    assert answers(path, plan)[0][0].size


def test_a_size_that_is_given_stays_and_the_others_follow(tmp_path: Path) -> None:
    path = made(tmp_path, "g (float[A, B] x, float[C, B] y) => (float[?, ?] z) { z = Concat <axis=1> (x, y) }")
    plan = planned(path, C=7)
    assert plan.sizes == {"A": 7, "B": 16, "C": 7}


def test_a_window_that_is_larger_than_the_usual_size(tmp_path: Path) -> None:
    path = made(
        tmp_path, "g (float[N, 1, H, 16] x) => (float[N, 1, ?, ?] y) { y = MaxPool <kernel_shape=[40, 2]> (x) }"
    )
    plan = planned(path)
    assert plan.sizes["H"] >= 40
    answers(path, plan)


@pytest.mark.parametrize("pads", ["[0, 0, 0, 8]", "[0, 8, 0, 8]", "[0, 0, 0, 3]"])
@pytest.mark.parametrize("layer", ["c = Conv<strides=[16]>(u, w)", "c = MaxPool<strides=[16], kernel_shape=[32]>(u)"])
def test_a_window_reads_what_a_pad_added(tmp_path: Path, layer: str, pads: str) -> None:
    text = f"""g (float[N, T] x) => (float[N, ?] y) {{
      p = Constant<value_ints={pads}>() o = Constant<value_ints=[1]>()
      l = Pad(x, p) u = Unsqueeze(l, o) {layer} y = Flatten(c)
    }}"""
    path = made(tmp_path, text, {"w": rows(1, 1, 32)})
    plan = planned(path)
    (answer,), (other,) = (answers(each, plan)[0] for each in (path, _filled_otherwise(path)))
    assert not np.array_equal(answer, other)


def _filled_otherwise(path: Path) -> Path:
    model = onnx.load(path)
    (pad,) = (node for node in model.graph.node if node.op_type == "Pad")
    model.graph.initializer.append(numpy_helper.from_array(np.float32(50), "fill"))
    pad.input.append("fill")
    onnx.save(model, path.with_name("other.onnx"))
    return path.with_name("other.onnx")


def test_a_classifier_whose_last_layer_says_the_size_of_the_image(tmp_path: Path) -> None:
    text = """g (float[N, C, H, W] x) => (float[N, 5] y) {
      a = Conv <strides=[4, 4]> (x, w)
      f = Flatten (a)
      y = Gemm (f, fc)
    }"""
    path = made(tmp_path, text, {"w": rows(2, 3, 4, 4), "fc": rows(2 * 13 * 13, 5)})
    plan = planned(path)
    assert plan.sizes == {"N": 1, "C": 3, "H": 52, "W": 52}
    answers(path, plan)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("g (float[N, 8] x, int64[1] k) => (float[N, ?] v, int64[N, ?] i) { v, i = TopK (x, k) }", {}),
        ("g (int64 n) => (float[?] y) "
         "{ s = Constant <value_int=0> () d = Constant <value_int=1> () r = Range (s, n, d) y = Cast <to=1> (r) }", {}),
        ("g (float[N, 6] x, int64[2] shape) => (float[?, ?] y) { y = Reshape (x, shape) }", {}),
        ("g (float[N, 6] x, int64[2] times) => (float[?, ?] y) { y = Tile (x, times) }", {}),
        ("g (float[N, 6] x, int64[2] parts) => (float[N, ?] a, float[N, ?] b) { a, b = Split <axis=1> (x, parts) }", {}),
        ("g (float[N, 6] x, int64[1] s, int64[1] e, int64[1] a) => (float[?, ?] y) { y = Slice (x, s, e, a) }", {}),
        ("g (float[N, 6] x, int64 axis) => (float[N, 6] y) { y = CumSum (x, axis) }", {}),
        ("g (int64[N, 4] i, int64 d, float[2] v) => (float[?, ?, ?] y) { y = OneHot (i, d, v) }", {}),
        ("g (float[N, 3, 8, 8] x, float[4] s) => (float[?, ?, ?, ?] y) "
         "{ y = Resize <mode=\"nearest\"> (x, none, s) }", {"none": np.zeros(0, np.float32)}),
        ("g (int64[2] s) => (float[?, ?] y) { y = ConstantOfShape (s) }", {}),
        ("g (float[T, N, 4] x, int32[L] lens) => (float[?, 1, ?, 3] y) "
         "{ y = LSTM <hidden_size=3> (x, w, r, b, lens) }", {"w": rows(1, 12, 4), "r": rows(1, 12, 3), "b": rows(1, 24)}),
        ("g (float[T, N, 4] x, float[1, M, 3] h) => (float[?, 1, ?, 3] y) "
         "{ y = GRU <hidden_size=3> (x, w, r, b, , h) }", {"w": rows(1, 9, 4), "r": rows(1, 9, 3), "b": rows(1, 18)}),
        ("g (float[N, 10] x, int64[N, K] i) => (float[N, K] y) { y = GatherElements <axis=1> (x, i) }", {}),
        ("g (float[10, 4] x, int64[K, 1] i, float[K, 4] u) => (float[10, 4] y) { y = ScatterND (x, i, u) }", {}),
        ("g (float[N, 4] x, float lo, float hi) => (float[N, 4] y) { y = Clip (x, lo, hi) }", {}),
        ("g (float[1, K, 4] b, float[1, 2, K] s, int64[1] n, float[1] t) => (int64[?, 3] y) { y = NonMaxSuppression (b, s, n, t) }", {}),
        ("g (float[N, 2, 9, 9] x, float[R, 4] rois, int64[R] at) => (float[?, 2, 3, 3] y) "
         "{ y = RoiAlign <output_height=3, output_width=3> (x, rois, at) }", {}),
        ("g (float[N, S, 8] q, float[N, T, 8] k) => (float[N, S, T] y) { t = Transpose <perm=[0, 2, 1]> (k) y = MatMul (q, t) }", {}),
    ],
)  # fmt: skip
def test_operators_that_take_sizes_indices_and_limits(tmp_path: Path, text: str, weights: Weights) -> None:
    path = made(tmp_path, text, weights)
    for outputs in answers(path, planned(path)):
        assert all(output.size for output in outputs)


def test_what_was_fine_stays_as_it_was(tmp_path: Path) -> None:
    """No range where nothing asks for one, and 16 where nothing asks for another size."""
    path = made(
        tmp_path,
        "g (float[N, T, 4] x, int64[N, T, 4] i) => (float[N, T, 4] y) { e = Equal (i, i) f = Cast <to=1> (e) y = Add (x, f) }",
    )
    assert planned(path) == InputPlan({"N": 1, "T": 16})


def test_constraints_that_nothing_meets_are_named(tmp_path: Path) -> None:
    path = made(tmp_path, "g (float[N, 4] x, float[N, 6] z) => (float[N, ?] y) { y = Add (x, z) }")
    unmet = planned(path).unmet
    assert unmet is not None
    assert constraint_text(unmet) == "Add 'Add -> y': shapes [1, 4] and [1, 6] do not broadcast"


def test_scalars_that_bound_a_row_of_numbers_leave_some_between_them(tmp_path: Path) -> None:
    """A lower bound above the upper one masks everything, and a softmax of that is not a number."""
    text = """g (float[N, 8] x, float low, float high) => (float[N, 8] y) {
      a = GreaterOrEqual (grid, low)
      b = LessOrEqual (grid, high)
      c = And (a, b)
      never = Constant <value_float=-100000.0> ()
      d = Where (c, x, never)
      y = Softmax (d)
    }"""
    path = made(tmp_path, text, {"grid": np.linspace(40, 400, 8, dtype=np.float32)})
    plan = planned(path)
    assert [(plan.ranges[name].low, plan.ranges[name].high) for name in ("low", "high")] == [(40, 130), (310, 400)]
    for (output,) in answers(path, plan):
        assert np.count_nonzero(output > 1e-6) > 2


def test_a_batch_on_another_axis_follows_the_batch(tmp_path: Path) -> None:
    """The state of a recurrent layer, [directions, batch, features]."""
    text = (
        "g (float[T, N, 4] x, float[1, ?, 3] h) => (float[T, 1, ?, 3] y) { y = GRU <hidden_size=3> (x, w, r, b, , h) }"
    )
    path = made(tmp_path, text, {"w": rows(1, 9, 4), "r": rows(1, 9, 3), "b": rows(1, 18)})
    plan = planned(path, N=5)
    assert (plan.sizes["N"], plan.sizes["h[1]"]) == (5, 5)
    assert plan.sizes["T"] == 1  # the first dimension: ONNX does not say that it is time
    answers(path, plan)


def test_a_sum_may_be_taken_of_nothing_by_what_the_model_is(tmp_path: Path) -> None:
    text = "g (float[N, 4] x) => (float[N] y) { e = Slice (x, zero, zero, one) y = %s <keepdims=0> (e%s) }"
    zero, one = np.array([0]), np.array([1])
    path = made(tmp_path, text % ("ReduceSum", ", one"), {"zero": zero, "one": one})
    assert planned(path).unmet is None
    answers(path, planned(path))
    path = made(tmp_path, (text % ("ArgMax", "")).replace("keepdims", "axis=1, keepdims"), {"zero": zero, "one": one})
    unmet = planned(path).unmet
    assert unmet is not None
    assert "an axis of size 0 is reduced" in constraint_text(unmet)
