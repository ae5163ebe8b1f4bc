"""OpenVINO 2026.4.1, CPU: ReduceL1, ReduceLogSum and ReduceLogSumExp of opsets 13 to 17 ignore the attribute `axes` and reduce every axis.

Expected: until opset 18 the axes of all reductions but ReduceSum are an attribute, so that over the last axis of [[1, 2], [3, 4]] ReduceL1
gives [[3], [7]]. Got: [[10]], the sum over all. At opset 11 the same node is right, and so are ReduceL2, ReduceMean, ReduceMax and
ReduceProd at opset 13. No error and no warning. Found by `assay fuzz --flow openvino-f32 --seed 7` (generator sweep).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

x = np.array([[1, 2], [3, 4]], np.float32)
RIGHT = {
    "ReduceL1": np.abs(x).sum(1, keepdims=True),
    "ReduceLogSum": np.log(x.sum(1, keepdims=True)),
    "ReduceLogSumExp": np.log(np.exp(x).sum(1, keepdims=True)),
    "ReduceL2": np.sqrt((x * x).sum(1, keepdims=True)),
}
wrong = False
for opset in (11, 13, 17):
    for operator, right in RIGHT.items():
        graph = helper.make_graph(
            [helper.make_node(operator, ["x"], ["y"], axes=[1])],
            "reduce",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 1])],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        core = openvino.Core()
        read = core.read_model(model.SerializeToString())
        got = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})({"x": x})[0]
        bad = got.shape != right.shape or not np.allclose(got, right, rtol=1e-5)
        print(f"opset {opset}, {operator}: {got.tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
