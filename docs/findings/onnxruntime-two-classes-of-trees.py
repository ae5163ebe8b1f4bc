"""ONNX Runtime 1.31.1, CPU: a TreeEnsembleClassifier of two classes whose leaf has a weight for the first class only says the second.

Expected: the scores are (1.4, 0), and the label is that of the largest. Got: scores (-1.4, 1.4) and the second label: a row that met one
class alone is taken for an ensemble that knows one class. Found by the table of the oracle's operators (docs/oracle.md).
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

node = helper.make_node(
    "TreeEnsembleClassifier",
    ["x"],
    ["label", "scores"],
    domain="ai.onnx.ml",
    nodes_treeids=[0, 0, 0],
    nodes_nodeids=[0, 1, 2],
    nodes_featureids=[0, 0, 0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values=[0.5, 0.0, 0.0],
    nodes_truenodeids=[1, 0, 0],
    nodes_falsenodeids=[2, 0, 0],
    class_treeids=[0, 0],
    class_nodeids=[1, 2],
    class_ids=[0, 1],
    class_weights=[1.4, 0.8],
    classlabels_int64s=[0, 1],
)
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1])
outputs = [onnx.ValueInfoProto(name=name) for name in ("label", "scores")]
imports = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 18)]
model = helper.make_model(helper.make_graph([node], "g", [x], outputs), opset_imports=imports, ir_version=10)
label, scores = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": np.zeros((1, 1), np.float32)})
print("onnxruntime", onnxruntime.__version__, "gives", label.tolist(), scores.tolist(), "where [0], [[1.4, 0.0]]")
sys.exit(int(label[0]) != 0)
