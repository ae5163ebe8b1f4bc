"""Inputs on which a tree shows that `<` was taken for `<=`: those that meet a threshold."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

from assay.models.input_plan.draw_plan import plan_of
from assay.models.onnx_file import describe
from assay.models.random_inputs import random_inputs
from assay.mutation.differential_search import Run, search
from assay.mutation.graph import Graph
from assay.mutation.registry import Mutant, inject

sys.path.insert(0, str(Path(__file__).parents[2]))
from ml_models import regressor


def _run(model: ModelProto) -> Run:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda sample: {"y": np.asarray(session.run(None, dict(sample))[0])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return regressor(tmp_path / "trees.onnx")


@pytest.fixture
def runs(path: Path) -> tuple[Run, Run]:
    """Of the trees, and of those with strict branches."""
    model = onnx.load(path)
    graph = Graph(model).copy()
    inject(graph, Mutant("strict-branches", "trees", None))
    return _run(model), _run(graph.model)


def test_the_search_tells_strict_branches_from_others(path: Path, runs: tuple[Run, Run]) -> None:
    golden = [{"x": np.random.default_rng(seed).standard_normal((1, 4)).astype(np.float32)} for seed in range(4)]
    seen, tried = search(*runs, golden, describe(path), seed=0)
    assert all(tried_input.equal for tried_input in seen)
    assert {tried_input.what for tried_input in tried if not tried_input.equal} >= {
        "rows about the thresholds of trees"
    }


def test_the_inputs_of_a_check_tell_strict_branches_from_others(path: Path, runs: tuple[Run, Run]) -> None:
    model = describe(path)
    (sample,) = random_inputs(model, seed=0, samples=1, batch=64, plan=plan_of(model, batch=64, fixed={}, stated={}))
    sound, strict = runs
    assert not np.array_equal(sound(sample)["y"], strict(sample)["y"])


@pytest.mark.parametrize(("kind", "beside"), [(TensorProto.FLOAT, np.float32), (TensorProto.DOUBLE, np.float64)])
def test_numbers_beside_a_threshold_are_those_of_the_type(kind: int, beside: type, tmp_path: Path) -> None:
    node = onnx.load(regressor(tmp_path / "trees.onnx")).graph.node[0]
    thresholds = {
        float(np.float32(value))
        for value, feature, mode in zip(
            *(_stated(node, f"nodes_{name}") for name in ("values", "featureids", "modes")), strict=True
        )
        if feature == 0 and mode != b"LEAF"
    }
    inputs = [helper.make_tensor_value_info("x", kind, ["N", 4])]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8),
        tmp_path / "m.onnx",
    )
    equals = plan_of(describe(tmp_path / "m.onnx"), batch=1, fixed={}, stated={}).ranges["x"].equals[0]
    ends = (beside(-np.inf), beside(np.inf))
    assert set(equals) == thresholds | {float(np.nextafter(beside(value), end)) for value in thresholds for end in ends}


def _stated(node: onnx.NodeProto, name: str) -> list[object]:
    return next(list(helper.get_attribute_value(attribute)) for attribute in node.attribute if attribute.name == name)
