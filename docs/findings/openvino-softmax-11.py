"""OpenVINO 2026.4.1, CPU: Softmax of opsets 11 and 12 sums over one axis; the standard flattens all axes from `axis` on.

Expected: the input is seen as a matrix whose columns are all axes from `axis` on (`axis` is 1 where it is left out), and every row has
the sum 1. Got: the Softmax of opset 13, over `axis` alone. Numpy and ONNX Runtime agree. The last axis, LogSoftmax, and
the Softmax of opset 1 are right.
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
        [helper.make_node("Softmax", ["x"], ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=10).SerializeToString()
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer({"x": x})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.array(request.get_output_tensor(0).data), session.run(None, {"x": x})[0]


def off(left: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(left - other).max())


rng = np.random.default_rng(0)
wrong = 0
print("openvino", openvino.__version__, "onnxruntime", onnxruntime.__version__)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x.astype(float))
    return powers / powers.sum(axis, keepdims=True)


x = rng.standard_normal((2, 3, 4)).astype(np.float32)
for attributes in ({}, {"axis": 0}, {"axis": 1}, {"axis": -3}, {"axis": -1}):
    got, witness = answers(x, **attributes)
    axis = attributes.get("axis", 1) % x.ndim
    rows = int(np.prod(x.shape[:axis]))
    by_hand = softmax(x.reshape(rows, -1), 1).reshape(x.shape)
    different = off(got, by_hand) > 1e-4
    wrong += different
    print(
        f"{attributes or 'no axis'}: OpenVINO off by {off(got, by_hand):.2g} (by {off(got, softmax(x, axis)):.2g} from one axis), "
        f"ONNX Runtime by {off(witness, by_hand):.2g}{'  WRONG' if different else ''}"
    )
sys.exit(1 if wrong else 0)
