"""OpenVINO 2026.4.1, CPU: Resize ignores `keep_aspect_ratio_policy`.

Expected: with not_larger or not_smaller both axes grow or shrink by one scale, the least or the largest of those that `sizes` asks for.
Got: the shape that `sizes` says, as of stretch. No error and no warning. Found by the case of another backend in the suite `regressions`.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
wrong = False
for policy in ("stretch", "not_larger", "not_smaller"):
    attributes = {"mode": "nearest", "axes": [2, 3], "keep_aspect_ratio_policy": policy}
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)],
        "resize",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray([2, 4], np.int64), "sizes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    right = ReferenceEvaluator(model).run(None, {"x": x})[0]
    engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)
    got = engine(x)[0]
    bad = got.shape != right.shape or not np.allclose(got, right)
    print(f"{policy}: shape {got.shape}, due {right.shape}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
