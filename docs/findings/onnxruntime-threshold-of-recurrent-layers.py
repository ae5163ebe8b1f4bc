"""ONNX Runtime 1.31.1, CPU: ThresholdedRelu as an activation of RNN, GRU or LSTM gives 0 for its threshold itself.

Expected, by the standard of these three operators: "ThresholdedRelu(x) - x if x >= alpha else 0", so that 1 stays 1 with an alpha of 1.
(The operator ThresholdedRelu has "x > alpha".) Got: 0. Found by hand beside a case of `assay fuzz --flow onnxruntime` (generator sweep)
when the generator learned the optional activations.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

x = np.asarray([0.5, 1.0, 1.5], np.float32).reshape(1, 3, 1)
due = [0.0, 1.0, 1.5]
graph = helper.make_graph(
    [
        helper.make_node(
            "RNN", ["x", "w", "r"], ["y"], hidden_size=1, activations=["ThresholdedRelu"], activation_alpha=[1.0]
        )
    ],
    "recurrent",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [
        numpy_helper.from_array(np.ones((1, 1, 1), np.float32), "w"),
        numpy_helper.from_array(np.zeros((1, 1, 1), np.float32), "r"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
given = np.asarray(onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]).reshape(-1).tolist()
print(f"{given}, due {due}{'' if given == due else '  WRONG'}")
sys.exit(int(given != due))
