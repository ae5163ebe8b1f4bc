"""OpenVINO 2026.4.1, CPU: tensors of no elements come out of Concat, Flatten and Transpose in another shape.

Expected: a tensor without elements has a shape like any other. Concat of [2, 0, 3] and [2, 0, 4] along the last axis is [2, 0, 7];
Flatten of [3, 0] at axis 2 is [0, 1]; [4, 1, 0] with its last two axes swapped is [4, 0, 1]. Got: the constant of no elements is left out
([2, 0, 4]); the input's shape; [4, 1, 1], which has elements. Found by `assay fuzz --flow openvino-f32 --seed 3` (generators near-misses
and equalities).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

F32 = {"INFERENCE_PRECISION_HINT": "f32"}


def answer(opset: int, graph: str, feeds: dict[str, np.ndarray]) -> np.ndarray:
    """What OpenVINO makes of a graph of one output."""
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> g {graph}')
    read = openvino.Core().read_model(model.SerializeToString())
    return np.asarray(openvino.compile_model(read, "CPU", F32)(feeds)[0])


CASES = (
    (
        "Concat",
        "(float[2,0,4] x) => (float[2,0,7] y) <float[2,0,3] w = {}> { y = Concat <axis = 2> (w, x) }",
        (2, 0, 4),
        (2, 0, 7),
    ),
    ("Flatten", "(float[3,0] x) => (float[0,1] y) { y = Flatten <axis = 2> (x) }", (3, 0), (0, 1)),
    (
        "Transpose",
        "(uint8[4,1,0] x) => (uint8[4,0,1] y) { y = Transpose <perm = [0, 2, 1]> (x) }",
        (4, 1, 0),
        (4, 0, 1),
    ),
)
wrong = False
for operator, graph, shape, right in CASES:
    got = answer(13, graph, {"x": np.zeros(shape, np.uint8 if operator == "Transpose" else np.float32)}).shape
    print(f"{operator}: {got}, due {right}{'  WRONG' if got != right else ''}")
    wrong = wrong or got != right
sys.exit(int(wrong))
