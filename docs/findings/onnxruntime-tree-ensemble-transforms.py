"""ONNX Runtime 1.31.1, CPU: TreeEnsemble computes LOGISTIC where `post_transform` asks for SOFTMAX, and the other way round.

The standard numbers the transforms NONE 0, SOFTMAX 1, LOGISTIC 2. Expected of the scores (1, 2) with 1: a softmax, 0.269 and 0.731.
Got: 0.731 and 0.881. Found by the table of the oracle's operators (docs/oracle.md).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node(
    "TreeEnsemble",
    ["x"],
    ["y"],
    domain="ai.onnx.ml",
    n_targets=2,
    tree_roots=[0, 1],
    nodes_featureids=[0, 0],
    nodes_modes=numpy_helper.from_array(np.zeros(2, np.uint8)),
    nodes_splits=numpy_helper.from_array(np.zeros(2, np.float32)),
    nodes_truenodeids=[0, 1],
    nodes_trueleafs=[1, 1],
    nodes_falsenodeids=[0, 1],
    nodes_falseleafs=[1, 1],
    leaf_targetids=[0, 1],
    leaf_weights=numpy_helper.from_array(np.array([1.0, 2.0], np.float32)),
    post_transform=1,
)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
imports = [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("", 21)]
model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=imports, ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString())
(got,) = session.run(None, {"x": np.zeros((1, 1), np.float32)})
raised = np.exp([1.0, 2.0])
print("onnxruntime", onnxruntime.__version__, "gives", got.tolist(), "where", [(raised / raised.sum()).tolist()])
sys.exit(int(not np.allclose(got, raised / raised.sum(), rtol=1e-5)))
