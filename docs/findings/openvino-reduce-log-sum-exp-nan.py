"""OpenVINO 2026.4.1, CPU: ReduceLogSumExp of NaN beside a number is infinity.

Expected: NaN, as log(exp(NaN) + exp(1)) is. Got: inf. Numpy and ONNX Runtime agree. NaN alone, and numbers alone, are right.
Found by judging models of one node by their derived tolerances.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper


def answers(x: np.ndarray, **attributes: object) -> tuple[np.ndarray, np.ndarray]:
    """What OpenVINO and ONNX Runtime make of one node."""
    graph = helper.make_graph(
        [helper.make_node("ReduceLogSumExp", ["x"], ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10).SerializeToString()
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer({"x": x})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.array(request.get_output_tensor(0).data), session.run(None, {"x": x})[0]


wrong = 0
print("openvino", openvino.__version__, "onnxruntime", onnxruntime.__version__)
for given in ([float("nan"), 1], [1, float("nan"), 2], [float("nan")], [1, 2]):
    x = np.array(given, np.float32)
    got, witness = answers(x, axes=[0], keepdims=0)
    by_hand = np.log(np.exp(x).sum())
    different = not np.allclose(got, by_hand, equal_nan=True)
    wrong += different
    print(f"{given}: OpenVINO {got}, numpy {by_hand}, ONNX Runtime {witness}{'  WRONG' if different else ''}")
sys.exit(1 if wrong else 0)
