"""ONNX Runtime 1.31.1 and OpenVINO 2026.4.1, CPU: the maximum over a window of nothing but -inf is the lowest finite number.

Expected: -inf, the largest element of the window (ONNX MaxPool; padding is no element). Got: -3.4028235e+38: the accumulator
begins with the lowest float instead of -inf. Masked attention maps hold such windows. Found by
`assay run edge --flow onnxruntime --flow openvino-f32 --filter MaxPool-lowest-padded`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])],
    "pool",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 2])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
x = np.full((1, 1, 2, 2), -np.inf, np.float32)
core = openvino.Core()
answers = {
    f"onnxruntime {onnxruntime.__version__}": onnxruntime.InferenceSession(model).run(None, {"x": x})[0],
    f"openvino {openvino.__version__.partition('-')[0]}": core.compile_model(core.read_model(model), "CPU")([x])[0],
}
for name, got in answers.items():
    print(f"{name}: expected -inf, got {got.reshape(-1).tolist()}{'' if np.all(got == -np.inf) else '  WRONG'}")
sys.exit(0 if all(np.all(got == -np.inf) for got in answers.values()) else 1)
