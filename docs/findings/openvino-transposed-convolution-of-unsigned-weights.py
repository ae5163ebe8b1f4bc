"""OpenVINO 2026.4.1, CPU: a ConvTranspose of dequantized values with unsigned weights answers wrongly.

Expected: the transposed convolution of the dequantized values. Got: numbers ten times as large, as if the zero point of the weights (128
here) were not taken off everywhere. With int8 weights, or an input that is no grid, the answer is right, and Conv is right in both.
ONNX Runtime is right. Found by `assay fuzz --flow openvino-f32 --seed 2611` (generator qdq-graphs).
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


x = np.array([1, -2, 3], np.float32)
weights = {"uint8": "148, 138, 118", "int8": "20, 10, -10"}
right = np.convolve(x, np.array([2, 1, -1]))
wrong = False
for element, numbers in weights.items():
    middle = 128 if element == "uint8" else 0
    got = answer(
        19,
        f"""(float[1,1,3] x) => (float[1,1,5] y) <{element}[1,1,3] w = {{{numbers}}}, {element} m = {{{middle}}}, float s = {{0.1}},
          float t = {{0.05}}, int8 z = {{0}}> {{ q = QuantizeLinear (x, t, z)  d = DequantizeLinear (q, t, z)
          v = DequantizeLinear (w, s, m)  y = ConvTranspose (d, v) }}""",
        {"x": x.reshape(1, 1, 3)},
    ).reshape(-1)
    bad = not np.allclose(got, right, atol=1e-3)
    print(f"weights of {element}: {got.round(3).tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
