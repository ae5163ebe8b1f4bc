"""OpenVINO 2026.4.1, CPU: the inverse of a one-sided DFT loses its last axis.

Expected: [1, 4, 1] for an input of [1, 3, 2] and a length of 4; for onesided 1 and inverse 1 "the output shape is
[signal_dim0]...[signal_dimN][1] (real)" (ONNX DFT, opset 20). Got: the right numbers in the shape [1, 4], so that what follows is misread.
Found by `assay run regressions --flow openvino-f32` on a case of another backend.
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


x = np.array([[[10, 0], [-2, 2], [-2, 0]]], np.float32)
GRAPH = """(float[1,3,2] x) => (float[1,4,1] y) <int64 n = {4}, int64 axis = {1}> { y = DFT <inverse = 1, onesided = 1> (x, n, axis) }"""
got = answer(20, GRAPH, {"x": x})
right = np.fft.irfft(x[..., 0] + 1j * x[..., 1], n=4, axis=1)
bad = got.shape != (1, 4, 1)
print(
    f"{got.reshape(-1).tolist()} of shape {got.shape}, due {right[0].tolist()} of shape (1, 4, 1){'  WRONG' if bad else ''}"
)
sys.exit(int(bad))
