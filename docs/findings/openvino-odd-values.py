"""OpenVINO 2026.4.1, CPU, INFERENCE_PRECISION_HINT f32: NaN, ends of int32, infinities and overflow answered wrongly.

Expected: IEEE 754 (NaN is greater than nothing, exp of NaN is NaN, 1 mod inf is 1), and what ONNX specifies (two whole
numbers are equal only if they are, a maximum of -inf is -inf, a shifted-out bit is lost, NaN is true). Got: see below. Found
by `assay run edge --flow openvino-f32`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import openvino
from onnx import TensorProto, helper

INF, NAN = float("inf"), float("nan")
F, W, U, B = TensorProto.FLOAT, TensorProto.INT32, TensorProto.UINT8, TensorProto.BOOL
NUMPY: dict[int, Any] = {F: np.float32, W: np.int32, U: np.uint8, B: np.bool_}
TOP = 2**31 - 1
CASES: tuple[tuple[str, dict[str, Any], int, list[list[float]], int, list[float]], ...] = (
    ("Greater", {}, F, [[NAN, 1, INF], [1, NAN, 2]], B, [0, 0, 1]),
    ("GreaterOrEqual", {}, F, [[NAN, 1, INF], [1, NAN, 2]], B, [0, 0, 1]),
    ("Exp", {}, F, [[NAN, INF, -INF]], F, [NAN, INF, 0]),
    ("Mod", {"fmod": 1}, F, [[1, 7, 5], [INF, 4, 3]], F, [1, 3, 2]),
    ("Equal", {}, W, [[TOP, 5, 7], [TOP - 1, 5, 8]], B, [0, 1, 0]),
    ("Less", {}, W, [[TOP - 1, 5, 7], [TOP, 6, 7]], B, [1, 1, 0]),
    ("ReduceMax", {"keepdims": 0}, F, [[-INF, -INF, -INF]], F, [-INF]),
    ("ReduceMin", {"keepdims": 0}, F, [[INF, INF, INF]], F, [INF]),
    ("BitShift", {"direction": "LEFT"}, U, [[200, 1, 255], [1, 7, 4]], U, [144, 128, 240]),
    ("Cast", {"to": B}, F, [[NAN, 1, 0]], B, [1, 1, 0]),
)


def answer(operator: str, attributes: dict[str, Any], kind: int, inputs: list[list[float]], gives: int) -> Any:
    """What OpenVINO makes of one node."""
    names = [f"x{place}" for place in range(len(inputs))]
    graph = helper.make_graph(
        [helper.make_node(operator, names, ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info(name, kind, [len(inputs[0])]) for name in names],
        [helper.make_tensor_value_info("y", gives, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    core = openvino.Core()
    read = core.read_model(model.SerializeToString())
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled([np.array(values, NUMPY[kind]) for values in inputs])[0].reshape(-1)


wrong = 0
print("openvino", openvino.__version__)
for operator, attributes, kind, inputs, gives, expected in CASES:
    wanted = np.array(expected, NUMPY[gives])
    got = answer(operator, attributes, kind, inputs, gives)
    same = np.array_equal(got, wanted, equal_nan=gives == F)
    wrong += not same
    print(f"{operator:15} {inputs}: expected {wanted.tolist()}, got {got.tolist()}{'' if same else '  WRONG'}")
sys.exit(1 if wrong else 0)
