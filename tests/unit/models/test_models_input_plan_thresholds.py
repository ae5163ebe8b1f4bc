"""What trees read lies about their thresholds: normal numbers would always come to the same leaf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper
from planned_models import answers, planned

from assay.core.input_plan import RangeSource
from assay.models.input_plan.generate import draw_in_range
from assay.models.input_plan.threshold_ranges import _by_column, _of_ensemble

ML = "ai.onnx.ml"
FIRST, SECOND = 115.0, -40.0
"""Thresholds of column 0, and of column 2 behind it."""


def _ensemble() -> NodeProto:
    """Three leaves, of classes 0, 1 and 2."""
    return helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "y"], domain=ML,
        nodes_treeids=[0] * 5, nodes_nodeids=[0, 1, 2, 3, 4], nodes_featureids=[0, 0, 2, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[FIRST, 0.0, SECOND, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 3, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0],
        class_treeids=[0] * 3, class_nodeids=[1, 3, 4], class_ids=[0, 1, 2], class_weights=[1.0] * 3,
        classlabels_int64s=[0, 1, 2], post_transform="NONE",
    )  # fmt: skip


def _later(dtype: type) -> NodeProto:
    """One node of TreeEnsemble-5, which has its numbers as tensors."""
    numbers = {"nodes_splits": [FIRST], "leaf_weights": [1.0, 2.0]}
    tensors: dict[str, Any] = {
        name: numpy_helper.from_array(np.asarray(values, dtype), name) for name, values in numbers.items()
    }
    modes = numpy_helper.from_array(np.zeros(1, np.uint8), "nodes_modes")
    return helper.make_node(
        "TreeEnsemble", ["x"], ["y"], domain=ML, tree_roots=[0], nodes_featureids=[1], nodes_modes=modes,
        nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[1], nodes_falseleafs=[1],
        leaf_targetids=[0, 0], n_targets=1, aggregate_function=1, post_transform=0, **tensors,
    )  # fmt: skip


def _model(folder: Path, nodes: list[NodeProto], widths: dict[str, Any], kind: int = TensorProto.FLOAT) -> Path:
    outputs = [helper.make_tensor_value_info("y", kind, None)]
    inputs = [helper.make_tensor_value_info(name, kind, ["N", width]) for name, width in widths.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, 5 if nodes[-1].op_type == "TreeEnsemble" else 3)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=8), folder / "model.onnx")
    return folder / "model.onnx"


def test_samples_come_to_several_leaves(tmp_path: Path) -> None:
    path = _model(tmp_path, [_ensemble()], {"x": 4})
    plan = planned(path)
    input_range = plan.ranges["x"]
    assert input_range.source is RangeSource.THRESHOLDS
    assert [
        low < threshold < high
        for threshold, low, high in zip((FIRST, SECOND), input_range.lows[::2], input_range.highs[::2], strict=True)
    ] == [True] * 2
    assert (input_range.lows[1], input_range.highs[1]) == (-1.0, 1.0)
    assert len({row.tobytes() for sample in answers(path, plan, samples=8) for row in sample[-1]}) > 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_later_operator_has_its_numbers_as_tensors(dtype: type, tmp_path: Path) -> None:
    kind = TensorProto.FLOAT if dtype is np.float32 else TensorProto.DOUBLE
    input_range = planned(_model(tmp_path, [_later(dtype)], {"x": 2}, kind)).ranges["x"]
    assert input_range.lows[1] < FIRST < input_range.highs[1]


def test_a_scaler_and_columns_of_their_own_are_read_through(tmp_path: Path) -> None:
    scaled = helper.make_node("Scaler", ["all"], ["x"], domain=ML, scale=[0.5, 1.0, 0.1], offset=[10.0, 0.0, 0.0])
    joined = helper.make_node("Concat", ["a", "b"], ["all"], axis=1)
    ranges = planned(_model(tmp_path, [joined, scaled, _ensemble()], {"a": 2, "b": 1})).ranges
    assert ranges["a"].lows[0] < FIRST / 0.5 + 10.0 < ranges["a"].highs[0]
    assert ranges["b"].lows[0] < SECOND / 0.1 < ranges["b"].highs[0]
    assert not ranges["a"].equals, "the rounding of the Scaler decides on which side such a number lies"


@pytest.mark.parametrize(("operator", "drawn"), [("Cast", False), ("Identity", True)])
def test_thresholds_are_drawn_where_nothing_rounds_on_the_way(operator: str, drawn: bool, tmp_path: Path) -> None:
    """A double beside a threshold of single precision becomes it."""
    attributes = {"to": TensorProto.FLOAT} if operator == "Cast" else {}
    before = helper.make_node(operator, ["d"], ["x"], **attributes)
    assert bool(planned(_model(tmp_path, [before, _ensemble()], {"d": 4})).ranges["d"].equals) is drawn


def _stumps(kind: int, columns: list[int], numbers: list[float]) -> NodeProto:
    """A tree of two leaves for each threshold."""
    count = len(columns)
    largest = {
        "nodes_values_as_tensor": helper.make_tensor(
            "v", kind, [3 * count], [end for n in numbers for end in (n, 0.0, 0.0)]
        )
    }
    weights = {"target_weights_as_tensor": helper.make_tensor("w", kind, [2 * count], [1.0, 2.0] * count)}
    return helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain=ML, n_targets=1,
        nodes_treeids=[tree for tree in range(count) for _ in range(3)], nodes_nodeids=[0, 1, 2] * count,
        nodes_featureids=[at for column in columns for at in (column, 0, 0)],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * count, nodes_truenodeids=[1, 0, 0] * count,
        nodes_falsenodeids=[2, 0, 0] * count, target_treeids=[tree for tree in range(count) for _ in range(2)],
        target_nodeids=[1, 2] * count, target_ids=[0] * (2 * count), **largest, **weights,
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "dtype"), [(TensorProto.DOUBLE, np.float64), (TensorProto.FLOAT, np.float32)])
def test_thresholds_as_large_as_numbers_get(kind: int, dtype: type, tmp_path: Path) -> None:
    most = float(np.finfo(dtype).max)
    plan = planned(_model(tmp_path, [_stumps(kind, [0, 0, 1], [most, -most, most])], {"x": 2}, kind))
    assert (plan.ranges["x"].lows[0], plan.ranges["x"].highs) == (-most, (most, most))
    drawn = draw_in_range(np.dtype(dtype).name, (64, 2), plan.ranges["x"], np.random.default_rng(0), 0)
    assert np.isfinite(drawn).all()


def test_whole_numbers_stay_inside_of_their_type(tmp_path: Path) -> None:
    tree = _stumps(TensorProto.DOUBLE, [0], [2.0**63])
    cast = helper.make_node("Cast", ["a"], ["x"], to=TensorProto.DOUBLE)
    wide = planned(_model(tmp_path, [cast, tree], {"a": 1}, TensorProto.INT64)).ranges["a"]
    assert (draw_in_range("int64", (64, 1), wide, np.random.default_rng(0), 0) > 0).all()


@pytest.mark.parametrize("column", [-1, 2, 50_000_000])
@pytest.mark.parametrize("width", [2, "M"])
def test_columns_that_the_input_has_not_are_left_out(column: int, width: int | str, tmp_path: Path) -> None:
    only = _model(tmp_path, [_stumps(TensorProto.DOUBLE, [column], [FIRST])], {"x": width}, TensorProto.DOUBLE)
    assert ("x" in planned(only).ranges) == (column == 2 and width == "M")
    beside = _model(
        tmp_path, [_stumps(TensorProto.DOUBLE, [column, 1], [FIRST, SECOND])], {"x": width}, TensorProto.DOUBLE
    )
    lows = planned(beside).ranges["x"].lows
    assert lows[1] < SECOND
    assert len(lows) == (3 if column == 2 and width == "M" else 2)


def test_thresholds_are_gone_through_once_for_all_columns() -> None:
    columns = np.random.default_rng(0).integers(0, 50, 300)
    parts = dict(_by_column(columns))
    assert list(parts) == sorted(set(columns.tolist()))
    assert all(np.array_equal(part, np.flatnonzero(columns == column)) for column, part in parts.items())
    assert dict(_by_column(columns[:0])) == {}
    assert _of_ensemble({"nodes_modes": [], "nodes_values": []}) == {}


def _categorical(mode: str) -> NodeProto:
    """Column 0 is 3, is 5, or neither: leaves of weights 10, 20 and 1."""
    yes, no = ([3, 4], [1, 2]) if mode == "BRANCH_EQ" else ([1, 2], [3, 4])
    return helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain=ML, n_targets=1, nodes_treeids=[0] * 5,
        nodes_nodeids=[0, 1, 2, 3, 4], nodes_featureids=[0] * 5, nodes_values=[3.0, 5.0, 0.0, 0.0, 0.0],
        nodes_modes=[mode, mode, "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[*yes, 0, 0, 0],
        nodes_falsenodeids=[*no, 0, 0, 0], target_treeids=[0] * 3, target_nodeids=[2, 3, 4], target_ids=[0] * 3,
        target_weights=[1.0, 10.0, 20.0],
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["BRANCH_EQ", "BRANCH_NEQ"])
def test_leaves_behind_equality_are_come_to(mode: str, tmp_path: Path) -> None:
    path = _model(tmp_path, [_categorical(mode)], {"x": 1})
    plan = planned(path)
    assert plan.ranges["x"].equals == ((3.0, 5.0),)
    assert {float(row) for sample in answers(path, plan, samples=32) for row in sample[-1].ravel()} == {1.0, 10.0, 20.0}


def test_members_of_sets_are_drawn(tmp_path: Path) -> None:
    node = _later(np.float32)
    for attribute in list(node.attribute):
        if attribute.name in ("nodes_modes", "nodes_splits"):
            node.attribute.remove(attribute)
    sets = np.asarray([2.0, 7.0, np.nan], np.float32)
    tensors = {
        "nodes_modes": np.full(1, 6, np.uint8),
        "nodes_splits": np.zeros(1, np.float32),
        "membership_values": sets,
    }
    node.attribute.extend(
        helper.make_attribute(name, numpy_helper.from_array(values, name)) for name, values in tensors.items()
    )
    drawn_from = planned(_model(tmp_path, [node], {"x": 2})).ranges["x"]
    assert drawn_from.equals == ((), (2.0, 7.0))
    drawn = draw_in_range("float32", (64, 2), drawn_from, np.random.default_rng(0), 0)
    assert {2.0, 7.0} < set(drawn[:, 1].tolist())
    assert not {2.0, 7.0} & set(drawn[:, 0].tolist())


def test_of_many_numbers_some_are_recorded(tmp_path: Path) -> None:
    tree = _stumps(TensorProto.FLOAT, [0] * 1000, [float(number) for number in range(1000)])
    modes = next(attribute for attribute in tree.attribute if attribute.name == "nodes_modes")
    modes.strings[:] = [mode.replace(b"LEQ", b"EQ") for mode in modes.strings]
    equals = planned(_model(tmp_path, [tree], {"x": 1})).ranges["x"].equals[0]
    assert (len(equals), equals[0], equals[-1]) == (64, 0.0, 999.0)
