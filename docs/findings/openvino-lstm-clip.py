"""OpenVINO 2026.4.1, CPU: LSTM with `clip` does not clip the cell before its activation, as ONNX Runtime does not.

Expected: "clipping ... is applied to the input of activations", of which the cell's tanh is one: with a clip of 0.1 no |h| is above
tanh(0.1) * sigmoid(0.1). Got: larger ones. Found by `assay fuzz --flow openvino-f32 --seed 3` (generator equalities).
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


GRAPH = """(float[20,1,1] x, float[1,4,1] w, float[1,4,1] r) => (float[20,1,1,1] y)
  { y = LSTM <hidden_size = 1, clip = 0.1> (x, w, r) }"""
ones = {name: np.ones(shape, np.float32) for name, shape in (("x", (20, 1, 1)), ("w", (1, 4, 1)), ("r", (1, 4, 1)))}
most = float(answer(22, GRAPH, ones).max())
bound = float(np.tanh(0.1) / (1 + np.exp(-0.1)))
print(f"up to {most:.4f} where {bound:.4f} is the most{'  WRONG' if most > bound * 1.001 else ''}")
sys.exit(int(most > bound * 1.001))
