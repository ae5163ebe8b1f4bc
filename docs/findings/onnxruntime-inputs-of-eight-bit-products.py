"""ONNX Runtime 1.31.1, CPU, at the default optimization: the float input of a product with dequantized weights is rounded to eight
bits.

Expected: what the model says, float32 numbers times dequantized weights. Got: an error of 0.4 % of the largest answer:
DequantizeLinear and MatMul (or Gemm) become MatMulNBits with an accuracy level of 4, which quantizes its input block by block. By
design, and nobody asked for it: `session.qdq_matmulnbits_accuracy_level` at 0 turns it off. With optimization off the answer is that
of the model. Found by `assay fuzz --flow onnxruntime --seed 21` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

draw = np.random.default_rng(0)
x = draw.standard_normal((4, 32)).astype(np.float32)
weights = draw.integers(-100, 100, (32, 8)).astype(np.int8)
graph = helper.make_graph(
    [
        helper.make_node("DequantizeLinear", ["w", "scale"], ["real"]),
        helper.make_node("MatMul", ["x", "real"], ["y"]),
    ],
    "product",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
    [numpy_helper.from_array(np.float32(0.05), "scale"), numpy_helper.from_array(weights, "w")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()
right = x.astype(np.float64) @ (weights * np.float32(0.05).astype(np.float64))
plain, exact = onnxruntime.SessionOptions(), onnxruntime.SessionOptions()
plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
exact.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
wrong = False
for name, options in (
    ("without optimization", plain),
    ("accuracy level 0", exact),
    ("by default", onnxruntime.SessionOptions()),
):
    got = onnxruntime.InferenceSession(model, options).run(None, {"x": x})[0]
    off = float(np.abs(got - right).max() / np.abs(right).max())
    print(f"{name}: off by {off:.1e} of the largest{'  WRONG' if off > 1e-5 else ''}")
    wrong = wrong or off > 1e-5
sys.exit(int(wrong))
