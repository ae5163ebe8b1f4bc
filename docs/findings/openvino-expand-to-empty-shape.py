"""OpenVINO 2026.4.1, CPU: Expand to a shape of no elements fails; with one thread it raises nothing and answers whatever memory holds.

Expected: the input itself, for a shape of no axes broadcasts with everything. Got: an error with two threads (`Broadcast target_shape has
smaller rank`), and with one thread (see openvino-one-thread-swallows-errors) numbers that nothing computed. Numpy and ONNX Runtime agree.
The same shape as an initializer is right.
Found by judging models of one node by their derived tolerances.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Expand", ["x", "shape"], ["y"])],
    "one",
    [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("shape", TensorProto.INT64, [0]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10).SerializeToString()
x = np.arange(6, dtype=np.float32).reshape(2, 3)
fed = {"x": x, "shape": np.zeros(0, np.int64)}
print("openvino", openvino.__version__, "onnxruntime", onnxruntime.__version__)
by_hand = x * np.ones(tuple(fed["shape"]), np.float32)
print(f"numpy: {by_hand.tolist()}")
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
print(f"ONNX Runtime: {session.run(None, fed)[0].tolist()}")
wrong = 0
for threads in (2, 1):
    core = openvino.Core()
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    request = core.compile_model(core.read_model(model), "CPU", options).create_infer_request()
    try:
        request.infer(fed)
    except RuntimeError as error:
        wrong += 1
        print(f"OpenVINO, {threads} threads: an error: {str(error).strip().splitlines()[-1]}  WRONG")
        continue
    got = np.array(request.get_output_tensor(0).data)
    different = not np.array_equal(got, by_hand)
    wrong += different
    print(f"OpenVINO, {threads} threads: shape {got.shape}, {got.tolist()}{'  WRONG' if different else ''}")
sys.exit(1 if wrong else 0)
