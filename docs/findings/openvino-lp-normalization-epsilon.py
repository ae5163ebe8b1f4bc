"""OpenVINO 2026.4.1, CPU: LpNormalization adds an epsilon to the sum of squares, which the standard does not know.

Expected: x / sqrt(sum of x ** 2), which is 1 or -1 where an axis has one element. Got: less, the smaller x is. ONNX Runtime and the
evaluator of ONNX give 1. Found by `assay fuzz --flow openvino-f32 --seed 88` (generator random-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.asarray([1, 0.1, 0.01, 1e-3, 1e-4], np.float32).reshape(5, 1)
graph = helper.make_graph(
    [helper.make_node("LpNormalization", ["x"], ["y"], axis=1, p=2)],
    "norm",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 1])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)
got = engine(x)[0].reshape(-1)
bad = not np.allclose(got, 1, atol=1e-5)
print(f"{got.round(5)}, due 1 each{'  WRONG' if bad else ''}")
sys.exit(int(bad))
