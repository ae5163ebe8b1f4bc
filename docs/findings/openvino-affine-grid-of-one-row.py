"""OpenVINO 2026.4.1, CPU: AffineGrid with align_corners and a height of one gives two rows.

Expected: the grid has the shape [N, H, W, 2] of the size that is asked for, [1, 1, 4, 2] here; where the one row lies between the corners
is not said, how many rows there are is. Got: [1, 2, 4, 2]. With align_corners 0, and for a width of two and more, the shape is right.
Found by `assay fuzz --flow onnxruntime --seed 7` (generator sweep), where OpenVINO was the witness.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
wrong = False
for corners in (0, 1):
    for height in (1, 2):
        graph = helper.make_graph(
            [helper.make_node("AffineGrid", ["theta", "size"], ["grid"], align_corners=corners)],
            "grid",
            [helper.make_tensor_value_info("theta", TensorProto.FLOAT, [1, 2, 3])],
            [helper.make_tensor_value_info("grid", TensorProto.FLOAT, [1, height, 4, 2])],
            [numpy_helper.from_array(np.array([1, 3, height, 4]), "size")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
        core = openvino.Core()
        got = core.compile_model(core.read_model(model.SerializeToString()), "CPU")({"theta": theta})[0].shape
        bad = tuple(got) != (1, height, 4, 2)
        print(f"align_corners {corners}, height {height}: shape {[*got]}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
