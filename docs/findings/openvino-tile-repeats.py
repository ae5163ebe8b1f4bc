"""OpenVINO 2026.4.1, CPU: Tile whose repeats are an input leaves its output unwritten.

Expected: the input repeated along each axis, as with constant repeats. Got: whatever lay in the memory, where
the second axis of four, the third and the last are repeated; (7, 1, 4, 2) times is right.
Found by `assay run onnx-node --flow openvino-f32`: test_tile.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

wrong = False
for shape, repeats in (((2, 3), (3, 2)), ((2, 3, 4, 5), (7, 1, 4, 2)), ((2, 3, 4, 5), (1, 6, 4, 2))):
    x = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    times = np.array(repeats, np.int64)
    for constant in (True, False):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        if not constant:
            inputs.append(helper.make_tensor_value_info("times", TensorProto.INT64, [len(shape)]))
        graph = helper.make_graph(
            [helper.make_node("Tile", ["x", "times"], ["y"])],
            "one",
            inputs,
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(shape))],
            [numpy_helper.from_array(times, "times")] if constant else [],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
        compiled = openvino.Core().compile_model(
            openvino.Core().read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
        )
        request = compiled.create_infer_request()
        request.infer({"x": x} if constant else {"x": x, "times": times})
        tiled = np.array(request.get_output_tensor(0).data)
        off = int((tiled != np.tile(x, repeats)).sum()) if tiled.shape == np.tile(x, repeats).shape else -1
        print(
            f"{shape} times {repeats}, {'constant' if constant else 'an input'}: {off} of {tiled.size} elements are wrong"
        )
        wrong |= off != 0
sys.exit(int(wrong))
