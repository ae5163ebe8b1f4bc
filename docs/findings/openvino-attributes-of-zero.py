"""OpenVINO 2026.4.1, CPU: an alpha, beta or gamma of 0 in HardSigmoid and Selu is taken for one that was left out.

Expected: HardSigmoid is max(0, min(1, alpha * x + beta)), so that a beta of 0 gives 0 at x = 0; a Selu with gamma 0 is 0. Got: the
answers of the defaults (beta 0.5, gamma 1.05). LeakyRelu, Elu, ThresholdedRelu and Gemm take their zeros. No error and no warning.
Found by `assay fuzz --flow openvino-f32 --seed 31` (generator sweep).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.asarray([-2, 0, 2], np.float32)
SELU = (np.expm1(np.minimum(x, 0)) * 1.67326, np.maximum(x, 0))
CASES = (
    ("HardSigmoid", {"beta": 0.0}, np.clip(0.2 * x, 0, 1)),
    ("HardSigmoid", {"alpha": 0.0}, np.full(3, 0.5)),
    ("Selu", {"gamma": 0.0}, np.zeros(3)),
    ("Selu", {"alpha": 0.0}, 1.0507 * np.maximum(x, 0)),
)
wrong = False
for operator, attributes, right in CASES:
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], **attributes)],
        "zero",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    got = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)(x)[0]
    bad = not np.allclose(got, right, atol=0.01)
    print(f"{operator} {attributes}: {got.round(3)}, due {right.round(3)}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
