"""OpenVINO 2026.4.1, CPU: a Clip behind QuantizeLinear and DequantizeLinear answers one step of the grid below its lower end.

Expected: no number below the `min` of the Clip, 0.5 here, which is a number of the grid (10 steps of 0.05). Got: 0.45. The two are
joined into one FakeQuantize, whose lower end is a step too low. Without the QuantizeLinear, the model given whole numbers, the answer
is right. Found by `assay fuzz --flow openvino-f32 --seed 88` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.linspace(-2, 2, 9, dtype=np.float32)
nodes = [
    helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["whole"]),
    helper.make_node("DequantizeLinear", ["whole", "scale", "zero"], ["real"]),
    helper.make_node("Clip", ["real", "least"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "clip",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [9])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [9])],
    [
        numpy_helper.from_array(np.float32(0.05), "scale"),
        numpy_helper.from_array(np.uint8(123), "zero"),
        numpy_helper.from_array(np.float32(0.5), "least"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
whole = np.clip(np.rint(x / np.float32(0.05)) + 123, 0, 255)
right = np.maximum((whole - 123) * np.float32(0.05), np.float32(0.5))
engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)
got = engine(x)[0]
bad = not np.allclose(got, right, atol=1e-3)
print(f"{got.round(3)}, due {right.round(3)}{'  WRONG' if bad else ''}")
sys.exit(int(bad))
