"""Random graphs with constraints on sizes and values: what is planned is taken by ONNX Runtime and by the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.helper import make_node, make_tensor_value_info

from assay.core.input_plan import InputPlan
from assay.models.input_plan.draw_plan import plan_of
from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs
from assay.numerics.oracle.evaluator import Evaluator

FEW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@st.composite
def towers(draw: st.DrawFn) -> ModelProto:
    """Down by strides and windows, up by resizing, each level joined with the one above it; the channels are the weight's."""
    channels, depth = draw(st.sampled_from([1, 3, 4])), draw(st.integers(1, 4))
    rng = np.random.default_rng(0)
    weights, nodes, levels, last = {}, [], ["x"], "x"
    weights["none"], kept = np.zeros(0, np.float32), channels
    for level in range(depth):
        kernel, stride = draw(st.sampled_from([(2, 2), (3, 2), (4, 4), (3, 3), (5, 3)]))
        # With less padding no size comes back to what it was.
        least = (kernel - stride + 1) // 2
        pad = draw(st.integers(least, max(least, (kernel - 1) // 2)))
        weights[f"w{level}"] = rng.standard_normal((2, kept, kernel, kernel)).astype(np.float32)
        weights[f"s{level}"] = np.array([1, 1, stride, stride], np.float32)
        nodes.append(make_node("Conv", [last, f"w{level}"], [f"d{level}"], strides=[stride] * 2, pads=[pad] * 4))
        last, kept = f"d{level}", 2
        levels.append(last)
    for level in range(depth - 1, 0, -1):
        nodes.append(make_node("Resize", [last, "none", f"s{level}"], [f"u{level}"], mode="nearest"))
        join = draw(st.sampled_from(["Add", "Concat"]))
        attributes = {"axis": 2} if join == "Concat" else {}
        nodes.append(make_node(join, [f"u{level}", levels[level]], [f"j{level}"], **attributes))
        last = f"j{level}"
        if join == "Concat":
            break
    height, width = draw(st.sampled_from([("h", "w"), ("s", "s"), (None, None)]))
    x = make_tensor_value_info("x", TensorProto.FLOAT, ["n", draw(st.sampled_from([channels, "c"])), height, width])
    nodes.append(make_node("Identity", [last], ["y"]))
    return _model(nodes, [x], weights)


@st.composite
def encoders(draw: st.DrawFn) -> ModelProto:
    """Tables of words, types and positions, a mask, and heads that divide the features."""
    heads, size = draw(st.integers(1, 3)), draw(st.sampled_from([2, 4]))
    words, kinds, longest = draw(st.integers(2, 300)), draw(st.integers(1, 4)), draw(st.integers(3, 40))
    rng = np.random.default_rng(0)
    width = heads * size
    weights = {
        "words": rng.standard_normal((words, width)).astype(np.float32),
        "kinds": rng.standard_normal((kinds, width)).astype(np.float32),
        "places": rng.standard_normal((1, longest, width)).astype(np.float32),
        "zero": np.array(0, np.int64), "one": np.array(1, np.int64), "ends": np.array([1], np.int64), "start": np.array([0], np.int64),
        "split": np.array([0, 0, heads, size], np.int64), "far": np.array(-1e4, np.float32), "unit": np.array(1, np.float32),
        "places_axes": np.array([1, 2], np.int64),
    }  # fmt: skip
    nodes = [
        make_node("Gather", ["words", "ids"], ["a"]),
        make_node("Gather", ["kinds", "types"], ["b"]),
        make_node("Add", ["a", "b"], ["c"]),
        make_node("Shape", ["ids"], ["shape"]),
        make_node("Gather", ["shape", "one"], ["length"]),
        make_node("Unsqueeze", ["length", "start"], ["end"]),
        make_node("Slice", ["places", "start", "end", "ends"], ["p"]),
        make_node("Add", ["c", "p"], ["d"]),
        make_node("Reshape", ["d", "split"], ["heads"]),
        make_node("Transpose", ["heads"], ["q"], perm=[0, 2, 1, 3]),
        make_node("Transpose", ["heads"], ["k"], perm=[0, 2, 3, 1]),
        make_node("MatMul", ["q", "k"], ["scores"]),
        make_node("Cast", ["mask"], ["m"], to=TensorProto.FLOAT),
        make_node("Sub", ["unit", "m"], ["inverse"]),
        make_node("Mul", ["inverse", "far"], ["bias"]),
        make_node("Unsqueeze", ["bias", "places_axes"], ["wide"]),
        make_node("Add", ["scores", "wide"], ["biased"]),
        make_node("Softmax", ["biased"], ["y"]),
    ]
    inputs = [make_tensor_value_info(name, TensorProto.INT64, ["n", "s"]) for name in ("ids", "types", "mask")]
    return _model(nodes, inputs, weights)


def _model(nodes: list[Any], inputs: list[Any], weights: dict[str, Any]) -> ModelProto:
    output = make_tensor_value_info("y", TensorProto.FLOAT, None)
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _taken(model: ModelProto, folder: Path) -> InputPlan:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    plan = plan_of(describe(path), batch=1, fixed={}, stated={})
    assert plan.unmet is None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for sample in random_inputs(describe(path), seed=0, samples=2, batch=1, plan=plan):
        (answer,) = session.run(None, sample)
        (reference,) = Evaluator(model).evaluate(sample)
        assert answer.size
        assert np.isfinite(answer).all()
        assert answer.shape == reference.shape
    return plan


@given(model=towers())
@FEW
def test_sizes_of_random_towers(model: ModelProto, tmp_path: Path) -> None:
    _taken(model, tmp_path)


@given(model=encoders())
@FEW
def test_sizes_and_values_of_random_encoders(model: ModelProto, tmp_path: Path) -> None:
    plan = _taken(model, tmp_path)
    longest = next(tensor.dims[1] for tensor in model.graph.initializer if tensor.name == "places")
    assert plan.sizes["s"] <= longest


@pytest.mark.slow
def test_the_node_cases_of_the_standard_take_what_is_planned(node_cases: list[Any], tmp_path: Path) -> None:
    """Two of Col2Im with pads and strides, three whose sizes or zero points hang together in other ways."""
    refused = []
    taken = 0
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    for case in node_cases:
        path = tmp_path / "model.onnx"
        path.write_bytes(case.model.SerializeToString())
        try:
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception:
            continue
        model = describe(path)
        if any(spec.dtype in ("string", "sequence", "optional", "map") for spec in model.inputs):
            continue
        (sample,) = random_inputs(model, seed=0, samples=1, batch=1, plan=plan_of(model, batch=1, fixed={}, stated={}))
        try:
            session.run(None, sample)
            taken += 1
        except Exception as error:
            if "Numpy_type" not in str(error):  # types that its binding does not take from numpy
                refused.append(case.name)
    assert taken > 1300
    assert len(refused) <= 10, refused
