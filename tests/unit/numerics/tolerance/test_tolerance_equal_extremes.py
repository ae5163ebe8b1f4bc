"""Before opset 12 nothing says whose place ArgMax and ArgMin give of equal extremes: any of them is right."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from small_graphs import parsed

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

LARGE = 2**60


def _is_right(place: int, opset: int, operator: str = "ArgMax", element_type: int = TensorProto.INT64) -> bool:
    """Of 1, 3, 3, 3 and 2, and of numbers that a double holds as one."""
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], axis=-1, keepdims=0)],
        "g",
        [helper.make_tensor_value_info("x", element_type, [1, 5])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    numbers = np.asarray([[1, 3, 3, 3, 2]]) * (1 if operator == "ArgMax" else -1)
    numbers = numbers + (LARGE if element_type == TensorProto.INT64 else 0)
    fed = {"x": numbers.astype(helper.tensor_dtype_to_np_dtype(element_type))}
    profile = derive_model(model, [fed], "float32", seed=0)
    judged = judge_outputs([{"y": np.asarray([place], np.int64)}], None, profile)["y"]
    return bool(judged.metrics["budget_used"] <= 1.0)


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("place", range(5))
def test_any_place_of_the_extreme_is_right_before_opset_12(operator: str, place: int) -> None:
    assert _is_right(place, 11, operator) == (place in (1, 2, 3))
    assert _is_right(place, 7, operator, TensorProto.INT32) == (place in (1, 2, 3))


@pytest.mark.parametrize("place", range(5))
def test_since_opset_12_it_is_the_first(place: int) -> None:
    assert _is_right(place, 13) == (place == 1)


def test_whole_numbers_that_real_ones_decide_are_judged_by_noisy_evaluations() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["w"], to=TensorProto.INT32),
        helper.make_node("ArgMax", ["w"], ["y"], axis=-1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 5])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    profile = derive_model(model, [{"x": np.float32([[1, 3, 3, 3, 2]])}], "float32", seed=0)
    assert profile.header.outputs[0].kind != "ranking"


def _is_right_of_reals(node: str, places: list[int], x: list[float], opset: int = 13, before: str = "Round") -> bool:
    model = parsed(
        f"g (float[1, {len(x)}] x) => (int64[1, {len(places)}] y) "
        f"<int64[1] k = {{{len(places)}}}> {{ s = {before}(x) {node} }}",
        opset,
    )
    profile = derive_model(model, [{"x": np.float32([x])}], "float32", seed=0)
    judged = judge_outputs([{"y": np.asarray([places], np.int64)}], None, profile)["y"]
    return bool(judged.metrics["budget_used"] <= 1.0)


_EQUAL = [1, 3, 3, 3, 2]


@pytest.mark.parametrize("place", range(5))
def test_of_equal_real_numbers_that_nothing_rounds_the_place_is_as_the_standard_says(place: int) -> None:
    assert _is_right_of_reals("y = ArgMax<axis=1>(s)", [place], _EQUAL) == (place == 1)
    assert _is_right_of_reals("y = ArgMax<axis=1, select_last_index=1>(s)", [place], _EQUAL) == (place == 3)
    assert _is_right_of_reals("y = ArgMin<axis=1>(s)", [place], [-1, -3, -3, -3, -2]) == (place == 1)
    assert _is_right_of_reals("y = ArgMax<axis=1>(s)", [place], _EQUAL, opset=11) == (place in (1, 2, 3))


def test_equal_numbers_that_were_rounded_may_change_places() -> None:
    assert _is_right_of_reals("y = ArgMax<axis=1>(s)", [2], _EQUAL, before="Exp")


def test_top_k_names_the_lower_place_of_equals_first() -> None:
    assert _is_right_of_reals("v, y = TopK<axis=1>(s, k)", [1, 2, 3], _EQUAL)
    assert not _is_right_of_reals("v, y = TopK<axis=1>(s, k)", [2, 1, 3], _EQUAL)
    assert not _is_right_of_reals("v, y = TopK<axis=1>(s, k)", [2, 3], _EQUAL)
    assert not _is_right_of_reals("v, y = TopK<axis=1, largest=0>(s, k)", [0, 4, 2], _EQUAL)
    assert _is_right_of_reals("v, y = TopK<axis=1, sorted=0>(s, k)", [2, 1, 3], _EQUAL)
    assert _is_right_of_reals("v, y = TopK<axis=1>(s, k)", [2, 1, 3], _EQUAL, before="Exp")
