"""ONNX Runtime 1.31.1, CPU: the scores that Attention gives beside its answer hold the lowest float where a key is masked.

Expected, by the standard and the function body: -inf for masked keys in `qk_matmul_output` (mode 2, after the mask). Got:
-3.4e38, the lowest
finite number. Found by `assay run onnx-functions --flow onnxruntime`: the operator and its body disagree.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(0)
fed = {name: rng.standard_normal((1, 1, 3, 4)).astype(np.float32) for name in "qkv"}
fed["mask"] = rng.standard_normal((3, 3)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("Attention", [*fed], ["y", "", "", "scores"], is_causal=1, qk_matmul_output_mode=2)],
    "one",
    [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in fed.items()],
    [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "scores")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
expected = ReferenceEvaluator(model).run(None, fed)[1]
scores = session.run(["scores"], fed)[0]
print("expected", expected[0, 0, 0], "got", scores[0, 0, 0])
sys.exit(int(not np.array_equal(np.isinf(scores), np.isinf(expected))))
