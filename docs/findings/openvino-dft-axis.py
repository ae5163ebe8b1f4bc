"""OpenVINO 2026.4.1, CPU: DFT transforms another axis: a negative one of opset 17 is one too far, the input `axis` of opset 20 is ignored.

Expected: a negative axis is counted from the back of the input, the last axis (real and imaginary part) included; opset 20 transforms
axis -2 where none is named. Got: opset 17 counts without the last axis, so that -2 is the third from the back, not the second; opset 20
always transforms axis 1. Numpy and ONNX Runtime agree.
Found by judging models of one node by their derived tolerances.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper


def answers(x: np.ndarray, opset: int, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """What OpenVINO and ONNX Runtime make of one node."""
    named = opset == 20 and axis is not None
    words = ["x", "", "axis"] if named else ["x"]
    attributes = {"axis": axis} if opset == 17 and axis is not None else {}
    constants = [numpy_helper.from_array(np.array(axis, np.int64), "axis")] if named else []
    graph = helper.make_graph(
        [helper.make_node("DFT", words, ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10).SerializeToString()
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


def transform(x: np.ndarray, axis: int) -> np.ndarray:
    spectrum = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=axis)
    return np.stack([spectrum.real, spectrum.imag], -1)


x = rng.standard_normal((2, 6, 5, 2)).astype(np.float32)
for opset, axis in ((17, None), (17, 1), (17, 2), (17, -2), (17, -3), (20, None), (20, 1), (20, 2), (20, -2), (20, -3)):
    got, witness = answers(x, opset, axis)
    due = ({17: 1, 20: -2}[opset] if axis is None else axis) % x.ndim
    by_hand = transform(x, due)
    taken = [other for other in range(3) if off(got, transform(x, other)) < 1e-3]
    different = off(got, by_hand) > 1e-3
    wrong += different
    print(
        f"opset {opset}, axis {axis} (that is {due}): OpenVINO off by {off(got, by_hand):.2g}, for it transforms {taken}, "
        f"ONNX Runtime off by {off(witness, by_hand):.2g}{'  WRONG' if different else ''}"
    )
sys.exit(1 if wrong else 0)
