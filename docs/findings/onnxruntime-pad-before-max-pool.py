"""ONNX Runtime 1.31.1, CPU, with any optimization: zeros padded before a MaxPool are taken for no padding at all.

Expected: the maximum over a window sees the zeros of a constant Pad before it, so that of negative numbers the border is 0. Got: the
negative numbers: the Pad is fused into the pads of the pool, whose padding is no element, whatever value was padded with. With
optimizations disabled the answer is right (its PadFusion, microsoft/onnxruntime#18136). Found by a
model that was broken on purpose, 0 for -inf, and answered like the sound one:
`assay check broken.onnx --flow onnxruntime --flow onnxruntime-disable --only-kind verify`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

graph = helper.make_graph(
    [
        helper.make_node("Pad", ["x", "pads", "value"], ["p"]),
        helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2]),
    ],
    "pad",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 3, 3])],
    [
        numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads"),
        numpy_helper.from_array(np.array(0, np.float32), "value"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
x = np.full((1, 1, 2, 2), -5, np.float32)
expected = [0, 0, 0, 0, -5, 0, 0, 0, 0]
wrong = False
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    got = onnxruntime.InferenceSession(model, options).run(None, {"x": x})[0].reshape(-1).tolist()
    print(f"{level}: {got}{'' if got == expected else '  WRONG'}")
    wrong = wrong or got != expected
sys.exit(int(wrong))
