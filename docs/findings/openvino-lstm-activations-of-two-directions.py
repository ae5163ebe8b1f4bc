"""OpenVINO 2026.4.1, CPU: a bidirectional LSTM or GRU uses the activations of its forward direction for the other direction, too.

Expected: `activations` names three functions for each direction (of a GRU two); here the forward one is the default, and the reverse one
ends in Relu. Got: the answers of the reverse direction with the functions of the forward one. ONNX Runtime gives what is expected. Found by
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


def sigmoid(value: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-value))


def relu(value: np.ndarray) -> np.ndarray:
    return np.maximum(value, 0)


def lstm(x: np.ndarray, w: np.ndarray, r: np.ndarray, last: object) -> np.ndarray:
    """The last h of one direction: gates in the order i, o, f, c."""
    h, c = np.zeros(2), np.zeros(2)
    for row in x:
        i, o, f, g = np.split(w @ row + r @ h, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * last(c)
    return h


def gru(x: np.ndarray, w: np.ndarray, r: np.ndarray, last: object) -> np.ndarray:
    """The last h of one direction: gates in the order z, r, h."""
    h = np.zeros(2)
    for row in x:
        update, reset = np.split(sigmoid(w[:4] @ row + r[:4] @ h), 2)
        h = (1 - update) * last(w[4:] @ row + r[4:] @ (reset * h)) + update * h
    return h


def answer(operator: str, gates: int, activations: list[str]) -> np.ndarray:
    node = helper.make_node(
        operator, ["x", "w", "r"], ["", "y"], hidden_size=2, direction="bidirectional", activations=activations
    )
    graph = helper.make_graph(
        [node],
        "recurrent",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 1, 2])],
        [numpy_helper.from_array(w[:, : 2 * gates], "w"), numpy_helper.from_array(r[:, : 2 * gates], "r")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)(x)[0][:, 0]


wrong = False
for operator, cell, gates, activations in (
    ("LSTM", lstm, 4, ["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Relu"]),
    ("GRU", gru, 3, ["Sigmoid", "Tanh", "Sigmoid", "Relu"]),
):
    ends = [(x[:, 0], np.tanh), (x[::-1, 0], relu)]
    right = np.stack([cell(rows, w[at, : 2 * gates], r[at, : 2 * gates], last) for at, (rows, last) in enumerate(ends)])
    got = answer(operator, gates, activations)
    bad = not np.allclose(got, right, atol=0.02)
    print(f"{operator}, last h: {got.round(3).tolist()}, due {right.round(3).tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
