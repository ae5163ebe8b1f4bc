"""ONNX Runtime 1.31.1, CPU, with any optimization: an output of the model whose transposed copy is quantized comes quantized itself.

Expected: `a` is the absolute value of the input, whatever reads it. Got: `a` rounded to the steps of the quantizer, and cut at its ends.
The quantizer behind the Transpose is put in front of it, and so in front of the output as well. Right with `ORT_DISABLE_ALL`. Found by
`assay fuzz --flow onnxruntime --seed 291981` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

graph = helper.make_graph(
    [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Transpose", ["a"], ["turned"]),
        helper.make_node("QuantizeLinear", ["turned", "scale", "zero"], ["steps"]),
        helper.make_node("DequantizeLinear", ["steps", "scale", "zero"], ["y"]),
    ],
    "output",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])],
    [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 1]),
        helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 3]),
    ],
    [numpy_helper.from_array(np.asarray(0.5, np.float32), "scale"), numpy_helper.from_array(np.uint8(128), "zero")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
x = np.asarray([[0.125, -3.25, 100.0]], np.float32)
wrong = False
for name, level in (
    ("no optimization", onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL),
    ("basic", onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC),
    ("default", onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL),
):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    got = np.asarray(session.run(["a"], {"x": x})[0])
    bad = not np.array_equal(got, np.abs(x))
    wrong = wrong or bad
    print(f"{name}: {got.reshape(-1).tolist()}, due {np.abs(x).reshape(-1).tolist()}{'  WRONG' if bad else ''}")
sys.exit(int(wrong))
