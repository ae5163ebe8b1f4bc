"""ONNX Runtime 1.31.1, CPU: Softplus as an activation of RNN, GRU or LSTM is infinite above 88.7, and the answer NaN.

Expected, by the standard: "Softplus(x) - log(1 + e^x)", which is 100 for 100, as the operator Softplus of the same engine says. Got: the
exponential of float32 overflows: inf of RNN, NaN of GRU and LSTM. Found by `assay fuzz --flow onnxruntime` (generator sweep, seed 11)
when the generator learned the optional activations.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

x = np.asarray([88.0, 90.0, 100.0], np.float32).reshape(1, 3, 1)
wrong = False
for operator, gates, activations, due in (
    ("RNN", 1, ["Softplus"], x.reshape(-1)),
    ("GRU", 3, ["Sigmoid", "Softplus"], np.zeros(3)),  # (1 - sigmoid(x)) x, where sigmoid(x) is 1 in float32
    ("LSTM", 4, ["Softplus", "Tanh", "Tanh"], x.reshape(-1)),  # x tanh(x tanh(x))
):
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "w", "r"], ["y"], hidden_size=1, activations=activations)],
        "recurrent",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.ones((1, gates, 1), np.float32), "w"),
            numpy_helper.from_array(np.zeros((1, gates, 1), np.float32), "r"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    given = np.asarray(onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]).reshape(-1)
    bad = not np.allclose(given, due, rtol=1e-5, atol=1e-5)
    wrong = wrong or bad
    print(f"{operator} of {x.reshape(-1).tolist()}: {given.tolist()}, due {due.tolist()}{'  WRONG' if bad else ''}")
sys.exit(int(wrong))
