"""Zeros among weights, and the 2:4 pattern along the axis that is summed."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.core.engine_info import Sparsity, WeightSparsity
from assay.models.weight_sparsity import two_of_four, weight_sparsity

HALF = np.tile(np.array([1.0, 0.0, 2.0, 0.0], np.float32)[:, None], (2, 3))
"""8 x 3: two of every four along the first axis, and not along the second."""


def saved(folder: Path, nodes: list[onnx.NodeProto], **weights: Any) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph), path)
    return path


@pytest.mark.parametrize(
    ("nodes", "weight", "pattern"),
    [
        ([helper.make_node("MatMul", ["x", "w"], ["y"])], HALF, True),
        ([helper.make_node("MatMul", ["x", "w"], ["y"])], HALF[[0, 2, 4, 6, 1, 3, 5, 7]], False),
        ([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], HALF.T.copy(), True),
        ([helper.make_node("Gemm", ["x", "w"], ["y"])], HALF, True),
        (
            [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])],
            HALF.T.copy(),
            True,
        ),
        ([helper.make_node("Conv", ["x", "w"], ["y"])], HALF.T.copy().reshape(3, 8, 1, 1), True),
        ([helper.make_node("ConvTranspose", ["x", "w"], ["y"])], HALF.reshape(8, 3, 1, 1), True),
        ([helper.make_node("Conv", ["x", "w"], ["y"])], HALF.reshape(8, 3, 1, 1), False),
    ],
)
def test_the_axis_is_the_one_that_is_summed(
    tmp_path: Path, nodes: list[onnx.NodeProto], weight: Any, pattern: bool
) -> None:
    sparsity = weight_sparsity(saved(tmp_path, nodes, w=weight))
    assert sparsity == Sparsity(24, 12, 24 if pattern else 0, (WeightSparsity("w", 24, 12, pattern),))


def test_the_zero_of_a_quantized_weight_is_its_zero_point(tmp_path: Path) -> None:
    points = np.array([3, 5, 7], np.uint8)
    stored = np.where(HALF == 0, points, points + 1).astype(np.uint8)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=1),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    sparsity = weight_sparsity(saved(tmp_path, nodes, w=stored, s=np.ones(3, np.float32), z=points))
    assert sparsity is not None
    assert (sparsity.zeros, sparsity.two_of_four) == (12, 24)


def test_what_is_not_multiplied_with_is_no_weight(tmp_path: Path) -> None:
    path = saved(tmp_path, [helper.make_node("Add", ["x", "w"], ["y"])], w=np.zeros((1, 8), np.float32))
    assert weight_sparsity(path) is None


def test_a_remainder_of_four_is_no_pattern() -> None:
    assert two_of_four(np.ones((8, 3), bool), 0)
    assert not two_of_four(np.ones((6, 3), bool), 0)


def test_a_sparse_weight_counts_as_the_dense_one(tmp_path: Path) -> None:
    path = saved(tmp_path, [helper.make_node("MatMul", ["x", "w"], ["y"])])
    model = onnx.load(path)
    places = np.flatnonzero(HALF)
    model.graph.sparse_initializer.append(
        helper.make_sparse_tensor(
            numpy_helper.from_array(HALF.reshape(-1)[places], "w"), numpy_helper.from_array(places, "at"), [8, 3]
        )
    )
    onnx.save(model, path)
    assert weight_sparsity(path) == Sparsity(24, 12, 24, (WeightSparsity("w", 24, 12, True),))
    model.graph.sparse_initializer[0].dims[:] = [2**30, 4]
    onnx.save(model, path)
    assert weight_sparsity(path) is None
