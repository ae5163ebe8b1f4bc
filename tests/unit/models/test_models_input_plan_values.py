"""Sizes that follow from values, both branches of an If, and borders that are reflected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.models.input_plan.draw_plan import other_sizes, plan_of
from assay.models.input_plan.evaluate_shapes import evaluate
from assay.models.input_plan.graph import read_graph
from assay.models.input_plan.sizes import solve
from assay.models.onnx_file import open_model
from assay.models.random_inputs import random_inputs
from assay.worker.inputs.input_choice import Samples, chosen


def _parsed(graph: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{graph}')


def _model(tmp_path: Path, graph: str) -> Model:
    onnx.save(_parsed(graph), tmp_path / "m.onnx")
    return open_model(tmp_path / "m.onnx")


def test_both_branches_can_be_entered_at_the_chosen_sizes() -> None:
    proto = _parsed("""g (float[N, S] x, bool flag) => (float y) {
        y = If(flag) <
            then_branch = a () => (float o) { r = Reshape(x, six) o = ReduceSum<keepdims=0>(r) },
            else_branch = b () => (float p) { q = Reshape(x, five) p = ReduceSum<keepdims=0>(q) }
        >
    }""")
    for name, sizes in (("six", [-1, 6]), ("five", [-1, 5])):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(sizes), name))
    graph = read_graph(proto)
    assert evaluate(graph, {"x": (1, 48), "flag": ()}, {}).untaken == 1
    solution = solve(graph, batch=1, fixed={}, data={})
    assert (solution.sizes["N"], solution.sizes["S"] % 30, solution.unmet) == (1, 0, None)


def test_a_border_is_reflected_only_where_there_is_room(tmp_path: Path) -> None:
    model = _model(tmp_path, 'g (float[N, 5] x, int64[4] pads) => (float[a, b] y) { y = Pad<mode="reflect">(x, pads) }')
    assert plan_of(model, batch=1, fixed={}, stated={}).ranges["pads"].exact == (0, 1, 0, 1)


@pytest.mark.parametrize(("kernel", "ends"), [("RBF", (-0.25, 0.75)), ("LINEAR", None)])
def test_a_gaussian_kernel_gets_values_near_its_support_vectors(
    tmp_path: Path, kernel: str, ends: tuple[float, float] | None
) -> None:
    """Of the typical feature: one of the three is measured in thousands."""
    node = onnx.helper.make_node(
        "SVMRegressor", ["x"], ["y"], domain="ai.onnx.ml", kernel_type=kernel, kernel_params=[1.0, 0.0, 3.0], n_supports=2,
        coefficients=[1.0, -1.0], rho=[0.0], support_vectors=[-0.25, 1000.0, -0.5, 0.75, 3000.0, 0.5],
    )  # fmt: skip
    shapes = [onnx.helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", ["N", 3]), ("y", ["N", 1]))]
    sets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 1)]
    graph = onnx.helper.make_graph([node], "g", shapes[:1], shapes[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=sets, ir_version=9), tmp_path / "m.onnx")
    ranges = plan_of(open_model(tmp_path / "m.onnx"), batch=1, fixed={}, stated={}).ranges
    assert ((ranges["x"].low, ranges["x"].high) if "x" in ranges else None) == ends


def _answer(wanted: int) -> Callable[[Samples], Samples]:
    def answer(inputs: Samples) -> Samples:
        if inputs[0]["x"].shape[1] != wanted:
            raise ValueError("Reshape 'r': what is left has another size")
        return inputs

    return answer


def test_sizes_that_follow_from_values_are_found_by_trial(tmp_path: Path) -> None:
    model = _model(tmp_path, "g (float[N, S] x) => (float[N, S] y) { y = Relu(x) }")
    inputs, _, plan = chosen(VerifyJob(Case("m", model), Flow("f", "reference")), _answer(21))
    assert (inputs[0]["x"].shape, plan.sizes, plan.changes) == (
        (1, 21),
        {"N": 1, "S": 21},
        (noted(NoteCode.SIZES_BY_TRIAL),),
    )


def test_a_stated_size_is_not_searched(tmp_path: Path) -> None:
    model = _model(tmp_path, "g (float[N, S] x) => (float[N, S] y) { y = Relu(x) }")
    recipe = Inputs(dims={"S": (16, 16, 16)})
    with pytest.raises(ValueError, match="another size"):
        chosen(VerifyJob(Case("m", model, recipe), Flow("f", "reference")), _answer(21))
    plan = plan_of(model, batch=1, fixed={"S": 16}, stated={})
    assert {name for sizes in other_sizes(plan, model, fixed=recipe.dims) for name in sizes} == {"N"}


@pytest.mark.parametrize("seed", range(3))
def test_an_index_comes_to_both_ends_of_its_table(seed: int, tmp_path: Path) -> None:
    model = _model(tmp_path, "g (int64[1, 4] x, float[1000, 2] table) => (float[1, 4, 2] y) { y = Gather(table, x) }")
    plan = plan_of(model, batch=1, fixed={}, stated={})
    drawn = [sample["x"] for sample in random_inputs(model, seed=seed, samples=4, batch=1, plan=plan)]
    assert drawn[1][0, :2].tolist() == [999, 0]
    assert all(0 <= values.min() <= values.max() < 1000 for values in drawn)


def test_a_single_index_is_drawn_as_before(tmp_path: Path) -> None:
    model = _model(tmp_path, "g (int64[2] x, float[1000, 2] table) => (float[2, 2] y) { y = Gather(table, x) }")
    plan = plan_of(model, batch=1, fixed={}, stated={})
    assert random_inputs(model, seed=0, samples=2, batch=1, plan=plan)[1]["x"].tolist() != [999, 0]
