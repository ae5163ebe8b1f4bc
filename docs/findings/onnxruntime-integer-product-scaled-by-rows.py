"""ONNX Runtime 1.31.1, CPU, at the default optimization: a MatMul of dequantized values whose weights have a scale for each row
cannot be run.

Expected: the product; each row of the weights has its own scale (axis 0 of DequantizeLinear). Got: an error while it runs. The three
nodes are fused into MatMulIntegerToFloat, which knows scales of columns only; nothing looks at the axis. With optimization off the
answer is right. Found by `assay fuzz --flow onnxruntime --seed 21` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

x = np.asarray([[130, 120, 140, 128]], np.uint8)
weights = np.arange(-6, 6, dtype=np.int8).reshape(4, 3)
scales = np.asarray([0.5, 1, 2, 4], np.float32)
graph = helper.make_graph(
    [
        helper.make_node("DequantizeLinear", ["x", "one", "middle"], ["a"]),
        helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["b"], axis=0),
        helper.make_node("MatMul", ["a", "b"], ["y"]),
    ],
    "product",
    [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
    [
        numpy_helper.from_array(np.float32(1), "one"),
        numpy_helper.from_array(np.uint8(128), "middle"),
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(scales, "scales"),
        numpy_helper.from_array(np.zeros(4, np.int8), "zeros"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
right = (x.astype(np.float32) - 128) @ (weights * scales[:, None])
plain = onnxruntime.SessionOptions()
plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
wrong = False
for name, options in (("without optimization", plain), ("by default", onnxruntime.SessionOptions())):
    try:
        got = onnxruntime.InferenceSession(model, options).run(None, {"x": x})[0].tolist()
    except Exception as error:  # noqa: BLE001  whatever it raises
        got = str(error).split("Status Message:")[-1][-80:]
    bad = got != right.tolist()
    print(f"{name}: {got}, due {right.tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
