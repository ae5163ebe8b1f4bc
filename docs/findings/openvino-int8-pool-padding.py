"""OpenVINO 2026.4.1, CPU: an average pool between grids of eight bits counts its padding as the number 0 of the grid.

Expected: padding is the real number 0, which is the zero point of the grid. Got: with zero point 5, up to three steps less
wherever a window reaches over the edge and `count_include_pad` is set.
Found by `python benchmarks/mutants_ties.py`.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

STEP, ZERO = np.float32(0.25), np.uint8(5)
x = np.random.default_rng(0).integers(-4, 200, (1, 1, 4, 4)).astype(np.float32) * STEP

grid = ["scale", "zero"]
graph = helper.make_graph(
    [
        helper.make_node("QuantizeLinear", ["x", *grid], ["whole"]),
        helper.make_node("DequantizeLinear", ["whole", *grid], ["real"]),
        helper.make_node("AveragePool", ["real"], ["mean"], kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1),
        helper.make_node("QuantizeLinear", ["mean", *grid], ["again"]),
        helper.make_node("DequantizeLinear", ["again", *grid], ["y"]),
    ],
    "pool",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 4, 4])],
    [numpy_helper.from_array(np.asarray(array), name) for name, array in (("scale", STEP), ("zero", ZERO))],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
padded = np.pad(x[0, 0], 1)
means = np.array([[padded[i : i + 3, j : j + 3].mean() for j in range(4)] for i in range(4)])
expected = np.rint(means / STEP) * STEP
actual = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU")(x)[0][0, 0]
off = np.rint((actual - expected) / STEP).astype(int)
print("steps off, at each window:\n", off)
sys.exit(int(np.abs(off).max() > 1))
