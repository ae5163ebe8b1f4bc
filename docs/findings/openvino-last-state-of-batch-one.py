"""OpenVINO 2026.4.1, CPU, at f32: the last state of a recurrent layer has an axis too many where the batch is 1 and a number follows.

Expected, by the standard (RNN-14, GRU-14, LSTM-14): Y_h has the shape [directions, batch, hidden], and Neg, or a product or a sum with one
number, keeps it: [1, 1, 2]. Got: [1, 1, 1, 2], with the right numbers; with a hidden size of 1 and a batch of 2, [1, 2, 2]. With a batch
and a hidden size of 2, with both directions, or with Sigmoid or a vector in the place of the number, the shape is right. Found by
`assay fuzz --flow openvino-f32 --seed 281104` (generator equalities).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def shape_of(layer: str, follower: str, batch: int, hidden: int) -> tuple[int, ...]:
    """Of what OpenVINO gives for the last state and one node behind it."""
    gates = GATES[layer]
    shapes = {"x": (3, batch, 1), "w": (1, gates * hidden, 1), "r": (1, gates * hidden, hidden)}
    nodes = [
        helper.make_node(layer, ["x", "w", "r"], ["", "last"], hidden_size=hidden),
        helper.make_node(follower, ["last"] if follower in ("Neg", "Sigmoid") else ["last", "number"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "last",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, batch, hidden))],
        [numpy_helper.from_array(np.float32(3), "number")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return compiled({name: np.ones(shape, np.float32) for name, shape in shapes.items()})[0].shape


wrong = 0
for layer, follower, batch, hidden in (
    ("GRU", "Neg", 1, 2),
    ("RNN", "Mul", 1, 2),
    ("LSTM", "Add", 1, 2),
    ("RNN", "Neg", 2, 1),
    ("GRU", "Neg", 2, 2),
    ("GRU", "Sigmoid", 1, 2),
):
    got, expected = shape_of(layer, follower, batch, hidden), (1, batch, hidden)
    wrong += got != expected
    print(f"{layer} and {follower}, batch {batch}: {got}, expected {expected}{'' if got == expected else '  WRONG'}")
sys.exit(int(wrong > 0))
