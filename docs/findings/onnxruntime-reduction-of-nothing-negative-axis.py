"""ONNX Runtime 1.31.1, CPU: a reduction over an axis of no elements that is named from the back keeps that axis.

Expected: with keepdims 1 the reduced axis has one element, whatever it had: [2, 0] over axis -1 is [2, 1], the neutral element of the
operator in each. Got: [2, 0]. Axis 1 is right, and so is -1 where there are elements. ReduceSum, ReduceProd, ReduceMax, ReduceL1 and
others do the same. Found by `assay fuzz --flow onnxruntime --seed 21` (generator near-misses).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

x = np.zeros((2, 0), np.float32)
wrong = False
for operator, neutral in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceL1", 0), ("ReduceSumSquare", 0)):
    for axis in (1, -1):
        graph = helper.make_graph(
            [helper.make_node(operator, ["x", "axes"], ["y"], keepdims=1)],
            "reduce",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 0])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(np.asarray([axis]), "axes")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
        got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
        bad = not np.array_equal(got, np.full((2, 1), neutral, np.float32))
        print(f"{operator}, axis {axis}: shape {list(got.shape)}, due [2, 1]{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
