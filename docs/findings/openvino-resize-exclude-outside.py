"""OpenVINO 2026.4.1, CPU: Resize ignores `exclude_outside`.

Expected: with exclude_outside 1 the weights of places outside of the tensor are 0, and the others are scaled so that their sum is 1.
Got: the answer of exclude_outside 0, at each border. ONNX Runtime and the evaluator of ONNX agree with each other, and OpenVINO
agrees with both where the attribute is 0. Found by `assay fuzz --flow openvino-f32 --seed 21` (generator random-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.asarray([1, 5, 2, 7], np.float32).reshape(1, 1, 4, 1)
wrong = False
for excluded in (0, 1):
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="cubic", exclude_outside=excluded)],
        "resize",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 8, 1])],
        [numpy_helper.from_array(np.asarray([1, 1, 2, 1], np.float32), "scales")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    right = ReferenceEvaluator(model).run(None, {"x": x})[0].reshape(-1)
    got = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)(x)[0].reshape(-1)
    bad = not np.allclose(got, right, atol=0.01)
    shown = got.round(3), right.round(3)
    print(f"exclude_outside {excluded}: {shown[0]}, due {shown[1]}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
