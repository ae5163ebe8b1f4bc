"""ONNX Runtime 1.31.1, CPU, at the default optimization: negative numbers are 0 behind a DequantizeLinear of int8 without a zero
point and a Transpose, or a Slice.

Expected: x * scale, with its axes swapped or a part of it. Got: 0 for each x below 0, as if the bytes were unsigned: what follows is
moved before the DequantizeLinear, and between two of them stands a QuantizeLinear without a zero point, whose answer is uint8 by default.
With optimization off, or a zero point of int8 that is written down, the answer is right. Found by `assay fuzz --flow onnxruntime --seed
77` (generator near-misses).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import NodeProto, TensorProto, helper, numpy_helper

x = np.asarray([[-3, 2], [1, -4]], np.int8)
SCALE = np.asarray(0.5, np.float32)
CASES = {
    "Transpose": (helper.make_node("Transpose", ["real"], ["y"], perm=[1, 0]), x.T * SCALE),
    "Slice": (helper.make_node("Slice", ["real", "starts", "ends"], ["y"]), x[:1] * SCALE),
}


def model(node: NodeProto, shape: tuple[int, ...]) -> bytes:
    constants = {"scale": SCALE, "starts": np.asarray([0, 0]), "ends": np.asarray([1, 2])}
    graph = helper.make_graph(
        [helper.make_node("DequantizeLinear", ["x", "scale"], ["real"]), node],
        "dequantize",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items() if name in ("scale", *node.input)],
    )
    opset = [helper.make_opsetid("", 18)]
    return bytes(helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())


plain = onnxruntime.SessionOptions()
plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
wrong = False
for kind, (node, right) in CASES.items():
    for name, options in (("without optimization", plain), ("by default", onnxruntime.SessionOptions())):
        got = onnxruntime.InferenceSession(model(node, right.shape), options).run(None, {"x": x})[0]
        bad = not np.array_equal(got, right)
        print(f"{kind}, {name}: {got.tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
