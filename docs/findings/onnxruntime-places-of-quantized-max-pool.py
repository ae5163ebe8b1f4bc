"""ONNX Runtime 1.31.1, CPU, with any optimization: where a MaxPool tells the places of its maxima and a QuantizeLinear follows, places are
wrong.

Expected: 1.02 is larger than 1.01, so that its place is told, whatever reads the maximum. Got: the place of the first of both. The
quantizer is put in front of the pool as well, which keeps the maximum after it, but not the places: numbers of one step are equal then.
Right with `ORT_DISABLE_ALL`, and without `QDQPropagationTransformer`. Found by `assay fuzz --flow onnxruntime --seed 20261127` (generator
qdq-graphs) when the generator learned the second output of MaxPool.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

graph = helper.make_graph(
    [
        helper.make_node("MaxPool", ["x"], ["most", "places"], kernel_shape=[2], strides=[2]),
        helper.make_node("QuantizeLinear", ["most", "scale", "zero"], ["steps"]),
        helper.make_node("DequantizeLinear", ["steps", "scale", "zero"], ["y"]),
    ],
    "pool",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4])],
    [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2]),
        helper.make_tensor_value_info("places", TensorProto.INT64, [1, 1, 2]),
    ],
    [numpy_helper.from_array(np.asarray(0.5, np.float32), "scale"), numpy_helper.from_array(np.uint8(128), "zero")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
x = np.asarray([[[1.01, 1.02, -3.0, 2.0]]], np.float32)
due = [1, 3]
wrong = False
for name, level, disabled in (
    ("no optimization", onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, []),
    (
        "all but QDQPropagationTransformer",
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
        ["QDQPropagationTransformer"],
    ),
    ("default", onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL, []),
):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, disabled_optimizers=disabled)
    places = np.asarray(session.run(["places"], {"x": x})[0]).reshape(-1).tolist()
    bad = places != due
    wrong = wrong or bad
    print(f"{name}: {places}, due {due}{'  WRONG' if bad else ''}")
sys.exit(int(wrong))
