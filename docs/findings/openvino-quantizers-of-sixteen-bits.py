"""OpenVINO 2026.4.1, CPU: QuantizeLinear and DequantizeLinear of 16 bits are taken out, and what they round is not rounded.

Expected: round(x / scale) * scale, 0.4 for 0.3 and a scale of 0.4. Got: 0.3 where another node stands before them; where they read an
input of the model, it cannot be compiled (`qdq_stripping.cpp: FQ stripping failed`). int16 and uint16 alike; eight bits are right.
Found by `assay fuzz --flow openvino-f32 --seed 21` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}

x = np.asarray([-1, -0.3, 0.3, 0.9], np.float32)
right = (np.float32(0.4) * np.rint(x / np.float32(0.4))).round(1)
wrong = False
for element, zero in (("int16", 0), ("uint16", 32768), ("int8", 0)):
    for first in ("Identity", "Neg"):
        nodes = [
            helper.make_node(first, ["x"], ["before"]),
            helper.make_node("QuantizeLinear", ["before", "scale", "zero"], ["whole"]),
            helper.make_node("DequantizeLinear", ["whole", "scale", "zero"], ["y"]),
        ]
        graph = helper.make_graph(
            nodes,
            "grid",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
            [
                numpy_helper.from_array(np.float32(0.4), "scale"),
                numpy_helper.from_array(np.asarray(zero, element), "zero"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        try:
            result = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU", F32)(x)[0]
            got = result if first == "Identity" else -result
            bad = not np.allclose(got, right)
        except RuntimeError:
            got, bad = np.nan * x, True
        print(f"{element} behind {first}: {got.round(2)}, due {right.round(2)}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
