"""OpenVINO 2026.4.1, CPU: with one thread, a failed inference raises nothing and leaves the answer of the one before.

Expected: an error for a shape of -1, as with two threads. Got: the tensor of the previous request, silently. Found by
`assay run edge --flow openvino-f32 --filter 'ConstantOfShape-negative'`.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("ConstantOfShape", ["x"], ["y"])],
    "fill",
    [helper.make_tensor_value_info("x", TensorProto.INT64, [2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "columns"])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
silent = False
print("openvino", openvino.__version__)
for threads in (2, 1):
    core = openvino.Core()
    request = core.compile_model(
        core.read_model(model), "CPU", {"INFERENCE_NUM_THREADS": threads}
    ).create_infer_request()
    request.infer([np.array([2, 3], np.int64)])
    try:
        request.infer([np.array([-1, -1], np.int64)])
        silent = True
        print(
            f"{threads} threads: no error; the answer for [-1, -1] has shape {request.get_output_tensor(0).shape}  WRONG"
        )
    except RuntimeError as error:
        print(f"{threads} threads: an error, as is due: {str(error).strip().splitlines()[-1]}")
sys.exit(1 if silent else 0)
