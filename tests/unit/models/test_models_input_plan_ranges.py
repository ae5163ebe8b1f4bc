"""Ranges of the values of inputs, as their operators ask for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from planned_models import answers, made, planned, rows

from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs


def test_tokens_types_and_positions_lie_in_their_tables(tmp_path: Path) -> None:
    text = """g (int64[B, S] ids, int64[B, S] types, int64[B, S] mask) => (float[B, S, 8] y) {
      a = Gather (words, ids)
      b = Gather (kinds, types)
      c = Add (a, b)
      m = Cast <to=1> (mask)
      one = Constant <value_float=1.0> ()
      big = Constant <value_float=-10000.0> ()
      n = Sub (one, m)
      p = Mul (n, big)
      axes = Constant <value_ints=[2]> ()
      q = Unsqueeze (p, axes)
      y = Add (c, q)
    }"""
    path = made(tmp_path, text, {"words": rows(50, 8), "kinds": rows(2, 8)})
    plan = planned(path)
    ranges = {name: (interval.low, interval.high, interval.kind) for name, interval in plan.ranges.items()}
    assert ranges == {"ids": (0, 49, "index"), "types": (0, 1, "index"), "mask": (0, 1, "mask")}
    samples = random_inputs(describe(path), seed=0, samples=4, batch=1, plan=plan)
    assert samples[0]["mask"].all()
    assert max(sample["ids"].max() for sample in samples) > 20
    answers(path, plan)


def test_positions_that_an_input_counts_up(tmp_path: Path) -> None:
    text = """g (int64[B, S] mask) => (float[B, S, 4] y) {
      axis = Constant <value_int=1> ()
      one = Constant <value_int=1> ()
      c = CumSum (mask, axis)
      p = Sub (c, one)
      zero = Constant <value_int=0> ()
      q = Max (p, zero)
      y = Gather (table, q)
    }"""
    path = made(tmp_path, text, {"table": rows(20, 4)})
    answers(path, planned(path))


def test_a_scalar_that_is_compared_takes_both_branches_numbers(tmp_path: Path) -> None:
    then = helper.make_graph(
        [helper.make_node("Reshape", ["x", "wide"], ["a"])], "then", [], [helper.make_tensor_value_info("a", 1, None)]
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["b"])], "else", [], [helper.make_tensor_value_info("b", 1, None)]
    )
    graph = helper.make_graph(
        [
            helper.make_node("Equal", ["sr", "rate"], ["is"]),
            helper.make_node("If", ["is"], ["y"], then_branch=then, else_branch=other),
        ],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T"]),
            helper.make_tensor_value_info("sr", TensorProto.INT64, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.array(16000, np.int64), "rate"),
            numpy_helper.from_array(np.array([-1, 100], np.int64), "wide"),
        ],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    plan = planned(path)
    assert plan.ranges["sr"].choices == (16000,)
    assert plan.sizes["T"] % 100 == 0
    answers(path, plan)


def test_the_number_of_trips_of_a_loop_is_small(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "x"], ["w"]), helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("w", 1, None)],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["m", "", "start"], ["y"], body=body)],
        "g",
        [
            helper.make_tensor_value_info("m", TensorProto.INT64, []),
            helper.make_tensor_value_info("start", TensorProto.FLOAT, ["A", 4]),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", 4]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    plan = planned(path)
    assert 1 <= plan.ranges["m"].low <= plan.ranges["m"].high <= 4
    answers(path, plan)


@pytest.mark.parametrize(
    "text",
    [
        "g (float[N, 4] x) => (float[N, 4] y) { y = Log (x) }",
        "g (float[N, 4] x) => (float[N, 4] y) { a = Sqrt (x) y = Log (a) }",
        "g (float[N, 4] x) => (float[N, 4] y) { one = Constant <value_float=1.0> () a = Sub (one, x) y = Sqrt (a) }",
        "g (float[N, 4] x) => (float[N, 4] y) { y = Acos (x) }",
        "g (float[N, 4] x) => (float[N, 4] y) { e = Constant <value_float=0.3> () y = Pow (x, e) }",
        "g (int64[N, 4] x, int64[N, 4] d) => (int64[N, 4] y) { y = Div (x, d) }",
    ],
)
def test_values_lie_in_the_domain(tmp_path: Path, text: str) -> None:
    path = made(tmp_path, text)
    for (output,) in answers(path, planned(path)):
        assert np.isfinite(output).all()


def test_texts_are_those_that_the_model_knows(tmp_path: Path) -> None:
    node = helper.make_node(
        "LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["red", "green"], values_int64s=[1, 2]
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, ["N", 20])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["N", 20])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    plan = planned(path)
    assert plan.ranges["x"].texts == ("red", "green")
    for (output,) in answers(path, plan):
        assert set(output.reshape(-1).tolist()) == {1, 2}
