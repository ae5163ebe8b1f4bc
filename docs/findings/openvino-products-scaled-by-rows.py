"""OpenVINO 2026.4.1, CPU, at f32: a MatMul of dequantized weights with a scale for each row is computed with the first scale alone.

Expected: DequantizeLinear-13 with `axis` 0 multiplies row i of the weights by scale i. Got: every row times the first scale. With weights
of two rows, or with a scale for each column (`axis` 1), the answer is right. Found by the screen of `assay fuzz` (generator qdq-graphs,
seed 990001, case 72).
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper, numpy_helper


def answer(weights: np.ndarray, scales: np.ndarray, x: np.ndarray, axis: int) -> np.ndarray:
    """What OpenVINO makes of it."""
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["w", "s"], ["real"], axis=axis),
            helper.make_node("MatMul", ["x", "real"], ["y"]),
        ],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [x.shape[0], weights.shape[1]])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(scales, "s")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return np.asarray(compiled([x])[0])


x = np.ones((1, 4), np.float32)
scales = np.asarray([1, 10, 100, 1000], np.float32)
weights = np.asarray([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], np.int8)
wrong = False
for axis, shape in ((0, (4, 1)), (1, (1, 4))):
    due = x @ (weights * scales.reshape(shape))
    given = answer(weights, scales, x, axis)
    wrong = wrong or not np.allclose(given, due)
    print(f"axis {axis}: {given.tolist()}, due {due.tolist()}{'' if np.allclose(given, due) else '  WRONG'}")
sys.exit(int(wrong))
