"""OpenVINO 2026.4.1, CPU: LRN rounds its bias down to a whole number.

Expected, with a window of one channel: x / (bias + alpha * x ** 2) ** beta. Got, for a bias of 1.5: what a bias of 1 gives. Numpy and
ONNX Runtime agree. Biases that are whole numbers are right.
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
        [helper.make_node("LRN", ["x"], ["y"], **attributes)],
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


def off(left: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(left - other).max())


rng = np.random.default_rng(0)
wrong = 0
print("openvino", openvino.__version__, "onnxruntime", onnxruntime.__version__)
x = rng.standard_normal((1, 4, 2, 2)).astype(np.float32)
for bias in (1.0, 1.5, 2.0, 2.75):
    got, witness = answers(x, size=1, alpha=0.2, beta=0.6, bias=bias)
    by_hand = x / (bias + 0.2 * x**2) ** 0.6
    rounded = x / (int(bias) + 0.2 * x**2) ** 0.6
    different = off(got, by_hand) > 1e-4
    wrong += different
    print(
        f"bias {bias}: OpenVINO off by {off(got, by_hand):.2g} (by {off(got, rounded):.2g} from a bias of {int(bias)}), "
        f"ONNX Runtime by {off(witness, by_hand):.2g}{'  WRONG' if different else ''}"
    )
sys.exit(1 if wrong else 0)
