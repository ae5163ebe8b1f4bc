"""OpenVINO 2026.4.1, CPU: in a quantized model a LayerNormalization behind a sum of dequantized values loses its epsilon.

Expected: (x - mean) / sqrt(variance + epsilon). Got: the answer for an epsilon of 0.
Found by `assay check --per-node` on a transformer quantized by NNCF.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

WIDTH, EPSILON = 32, 1e-2
rng = np.random.default_rng(0)
held = {
    "s": np.float32(0.02),
    "zero": np.int8(0),
    "weight_scale": np.float32(0.01),
    "weight": rng.integers(-127, 128, (WIDTH, WIDTH)).astype(np.int8),
    "one": np.ones(WIDTH, np.float32),
    "none": np.zeros(WIDTH, np.float32),
}
graph = helper.make_graph(
    [
        helper.make_node("QuantizeLinear", ["x", "s", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "zero"], ["h"]),
        helper.make_node("DequantizeLinear", ["weight", "weight_scale"], ["w"]),
        helper.make_node("MatMul", ["h", "w"], ["m"]),
        helper.make_node("Add", ["m", "h"], ["a"]),
        helper.make_node("LayerNormalization", ["a", "one", "none"], ["y"], epsilon=EPSILON),
    ],
    "one",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, WIDTH])],
    [numpy_helper.from_array(np.asarray(value), name) for name, value in held.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
x = rng.normal(0, 0.3, (4, WIDTH)).astype(np.float32)
compiled = openvino.Core().compile_model(
    openvino.Core().read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
)
got = np.asarray(compiled([x])[0], np.float64)
h = np.clip(np.rint(x.astype(np.float64) / 0.02), -128, 127) * np.float64(held["s"])
a = h @ (held["weight"] * np.float64(held["weight_scale"])) + h


def normalized(epsilon: float) -> np.ndarray:
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + epsilon)


right, lost = (float(np.abs(got - normalized(epsilon)).max()) for epsilon in (EPSILON, 0.0))
print(f"off by {right:.2e} with the epsilon, by {lost:.2e} without it")
sys.exit(int(right > 10 * lost))
