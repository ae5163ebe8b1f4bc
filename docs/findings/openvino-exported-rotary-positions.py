"""OpenVINO 2026.4.1, CPU: a compiled model with rotary positions gives garbage once it is exported and imported.

Expected: what the compiled model gives before it is exported. Got: numbers up to 1e36, NaN, and others in each process. The plug-in
makes one operator of the slices, products and Concat of rotary positions; a model cache stores it as export_model does. Found by `assay
check examples/language-model/models/rotary.onnx --flow openvino-f32`, which runs the artifact that would be deployed.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import TensorProto, helper

F32 = {"INFERENCE_PRECISION_HINT": "f32"}
LENGTH, HEAD = 12, 16


def node(kind: str, reads: str, gives: str, **attributes: int) -> object:
    return helper.make_node(kind, reads.split(), [gives], **attributes)


numbers = {"zero": [0], "half": [HEAD // 2], "end": [HEAD], "last": [3], "one": [1]}
graph = helper.make_graph(
    [
        node("Slice", "x zero half last", "low"),
        node("Slice", "x half end last", "high"),
        node("Cos", "angles", "cos"),
        node("Sin", "angles", "sin"),
        node("Mul", "low cos", "low_cos"),
        node("Mul", "high sin", "high_sin"),
        node("Sub", "low_cos high_sin", "first"),
        node("Mul", "high cos", "high_cos"),
        node("Mul", "low sin", "low_sin"),
        node("Add", "high_cos low_sin", "second"),
        node("Concat", "first second", "y", axis=-1),
    ],
    "rotary",
    [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2, "length", HEAD]),
        helper.make_tensor_value_info("angles", TensorProto.FLOAT, ["batch", 1, "length", HEAD // 2]),
    ],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2, "length", HEAD])],
    [helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in numbers.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
draw = np.random.default_rng(0)
x = draw.standard_normal((1, 2, LENGTH, HEAD), np.float32)
angles = draw.standard_normal((1, 1, LENGTH, HEAD // 2), np.float32)
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", F32)
imported = core.import_model(compiled.export_model().getvalue(), "CPU", F32)
due, got = compiled([x, angles])[0], imported([x, angles])[0]
bad = not np.allclose(due, got, atol=1e-5)
print(f"off by up to {np.abs(got - due).max():.3g}, due 0{'  WRONG' if bad else ''}")
sys.exit(int(bad))
