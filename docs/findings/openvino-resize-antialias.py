"""OpenVINO 2026.4.1, CPU: Resize ignores `antialias`.

Expected: with antialias 1 a filter as wide as what one output covers is laid over the input when it shrinks. Got: the answer of
antialias 0, two of four elements read. ONNX Runtime and the evaluator of ONNX agree with each other; with antialias 0 all three do.
No error and no warning. Found by `assay fuzz --flow openvino-f32 --seed 88` (generator near-misses).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.asarray([1, 5, 2, 7, 0, 3, 8, 4], np.float32).reshape(1, 1, 8, 1)
wrong = False
for antialias in (0, 1):
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", antialias=antialias)],
        "resize",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 1])],
        [numpy_helper.from_array(np.asarray([1, 1, 0.25, 1], np.float32), "scales")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    right = ReferenceEvaluator(model).run(None, {"x": x})[0].reshape(-1)
    engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)
    got = engine(x)[0].reshape(-1)
    bad = not np.allclose(got, right, atol=1e-3)
    print(f"antialias {antialias}: {got.round(3)}, due {right.round(3)}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
