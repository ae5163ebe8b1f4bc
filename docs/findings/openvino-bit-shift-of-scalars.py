"""OpenVINO 2026.4.1, CPU: BitShift of two scalars gives a vector of one element.

Expected: operands of no axes give an answer of no axes (broadcasting of ONNX). Got: the right number in the shape [1]. A vector
shifted by a scalar has the right shape. Found by `assay fuzz --flow openvino-f32 --seed 21` (generator sweep).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

graph = helper.make_graph(
    [helper.make_node("BitShift", ["a", "b"], ["y"], direction="LEFT")],
    "shift",
    [helper.make_tensor_value_info(name, TensorProto.UINT8, []) for name in ("a", "b")],
    [helper.make_tensor_value_info("y", TensorProto.UINT8, [])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)
got = engine({"a": np.uint8(25), "b": np.uint8(2)})[0]
bad = got.shape != () or got != 100
print(f"25 << 2: {got.tolist()} of shape {list(got.shape)}, due 100 of shape []{'  WRONG' if bad else ''}")
sys.exit(int(bad))
