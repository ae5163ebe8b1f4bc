"""OpenVINO 2026.4.1, CPU: a one-sided DFT of real numbers keeps the last axis of its input beside that of real and imaginary part.

Expected: an input of shape [4, 256, 1], axis 1, gives [4, 129, 2] (ONNX DFT, opset 20). Got: [4, 129, 1, 2]; a product behind it cannot be
compiled. Found by `assay check` on a seeded model of a spectrogram.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

graph = helper.make_graph(
    [helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1)],
    "one",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 256, 1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 129, 2])],
    [numpy_helper.from_array(np.array(1, np.int64), "axis")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")
got = compiled(np.ones((4, 256, 1), np.float32))[0].shape
print(f"openvino {openvino.__version__}: got {got}, expected (4, 129, 2)")
sys.exit(got != (4, 129, 2))
