"""ONNX Runtime 1.31.1, CPU: Min, Max and Clip of int64 are wrong where a value has bit 31 set.

Expected: the smaller of 2,638,713,002 and 100 is 100. Got: 2,638,713,002. The same for Clip, whose upper bound is then ignored,
with optimization off too. Lengths and hashes past 2^31 are such values. Found while a mutant that clips a 64-bit sum answered
exactly like the model without it: `assay mutate`, operator `saturate-for-wrap`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

VALUES = np.array([2_638_713_002, 5, 2**41, -3, 2**31], np.int64)
onnxruntime.set_default_logger_severity(3)
wrong = 0
for kind, bound, expected in (
    ("Min", 100, np.minimum(VALUES, 100)),
    ("Max", 2**31 + 5, np.maximum(VALUES, 2**31 + 5)),
    ("Clip", 100, np.clip(VALUES, -10, 100)),
):
    inputs = ["x", "bound"] if kind != "Clip" else ["x", "low", "bound"]
    constants = {"bound": bound} | ({"low": -10} if kind == "Clip" else {})
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, ["y"])],
        kind,
        [helper.make_tensor_value_info("x", TensorProto.INT64, [len(VALUES)])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [len(VALUES)])],
        [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    (got,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": VALUES})
    same = np.array_equal(got, expected)
    wrong += not same
    print(
        f"{kind:4} {VALUES.tolist()} with {bound}: expected {expected.tolist()}, got {got.tolist()}{'' if same else '  WRONG'}"
    )
print("onnxruntime", onnxruntime.__version__)
sys.exit(1 if wrong else 0)
