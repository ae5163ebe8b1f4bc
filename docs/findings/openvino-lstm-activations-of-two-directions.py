"""OpenVINO 2026.4.1, CPU: a bidirectional LSTM uses the activations of its forward direction for the other direction, too.

Expected: `activations` names three functions for each direction; here the forward one is the default, and the reverse one ends in
Relu. Got: the answers of the reverse direction with the functions of the forward one. ONNX Runtime gives what is expected. Found by
`assay fuzz --flow openvino-f32 --seed 31` (generator sweep).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

draw = np.random.default_rng(0)
x = draw.standard_normal((2, 1, 2)).astype(np.float32)
w = draw.standard_normal((2, 8, 2)).astype(np.float32)
r = draw.standard_normal((2, 8, 2)).astype(np.float32)


def cell(x: np.ndarray, w: np.ndarray, r: np.ndarray, last: object) -> np.ndarray:
    """The last h of one direction: gates in the order i, o, f, c."""
    h, c = np.zeros(2), np.zeros(2)
    for row in x:
        i, o, f, g = np.split(w @ row + r @ h, 4)
        i, o, f = (1 / (1 + np.exp(-one)) for one in (i, o, f))
        c = f * c + i * np.tanh(g)
        h = o * last(c)
    return h


right = np.stack([cell(x[:, 0], w[0], r[0], np.tanh), cell(x[::-1, 0], w[1], r[1], lambda c: np.maximum(c, 0))])
node = helper.make_node(
    "LSTM",
    ["x", "w", "r"],
    ["", "y"],
    hidden_size=2,
    direction="bidirectional",
    activations=["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Relu"],
)
graph = helper.make_graph(
    [node],
    "lstm",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 1, 2])],
    [numpy_helper.from_array(w, "w"), numpy_helper.from_array(r, "r")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
got = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)(x)[0][:, 0]
bad = not np.allclose(got, right, atol=0.02)
print(f"last h: {got.round(3)}, due {right.round(3)}{'  WRONG' if bad else ''}")
sys.exit(int(bad))
