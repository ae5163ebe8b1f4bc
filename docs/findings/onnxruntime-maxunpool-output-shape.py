"""ONNX Runtime 1.31.1, CPU: MaxUnpool with `output_shape` puts values at indices of the smaller, inferred output.

Expected (the ONNX node case test_maxunpool_export_with_output_shape): the indices are of the inferred output, whose
values are then placed at their row and column of the larger one. Got: the flat index is used in the larger one.
Found by `assay run onnx-node --flow onnxruntime --filter 'test_maxunpool*'`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

node = helper.make_node("MaxUnpool", ["x", "i", "shape"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
graph = helper.make_graph(
    [node],
    "unpool",
    [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [1, 1, 2, 2]),
        helper.make_tensor_value_info("shape", TensorProto.INT64, [4]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
x = np.array([[[[5, 6], [7, 8]]]], np.float32)
indices = np.array([[[[5, 7], [13, 15]]]], np.int64)
session = onnxruntime.InferenceSession(model.SerializeToString())
got = session.run(None, {"x": x, "i": indices, "shape": np.array([1, 1, 5, 5], np.int64)})[0][0, 0]
expected = np.zeros((5, 5), np.float32)
expected[1, 1], expected[1, 3], expected[3, 1], expected[3, 3] = 5, 6, 7, 8
print("onnxruntime", onnxruntime.__version__)
print("expected\n", expected, "\ngot\n", got, sep="")
sys.exit(0 if np.array_equal(got, expected) else 1)
