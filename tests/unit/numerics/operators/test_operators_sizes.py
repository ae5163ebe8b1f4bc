"""Reshape to sizes that the standard does not have: refused, as ONNX Runtime does, where numpy would find one."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from sentences import says

X = np.arange(6, dtype=np.float64)


def _model() -> ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [6])
    s = helper.make_tensor_value_info("s", TensorProto.INT64, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "s"], ["y"])], "g", [x, s], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("kind", [Evaluator, WideEvaluator])
@pytest.mark.parametrize("sizes", [(2, -2), (-7, 1)])
def test_a_size_below_minus_one_is_refused(kind: type[Evaluator], sizes: tuple[int, int]) -> None:
    with pytest.raises(Lowering, check=says(f"[{sizes[0]}, {sizes[1]}] is no shape")):
        kind(_model()).evaluate({"x": X.astype(np.float32), "s": np.array(sizes)})


@pytest.mark.parametrize("sizes", [(2, -1), (-1, 6), (3, 2), (0, -1)])
def test_others_are_as_ever(sizes: tuple[int, int]) -> None:
    wanted = (6, 1) if sizes[0] == 0 else X.reshape(sizes).shape
    (answer,) = WideEvaluator(_model()).evaluate({"x": X, "s": np.array(sizes)})
    assert answer.shape == wanted
    assert answer.ravel().tolist() == X.tolist()
