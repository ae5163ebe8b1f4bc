"""OpenVINO 2026.4.1, CPU: a mean over the last axis between two grids of eight bits answers wrongly in its last elements.

Expected: the mean of the dequantized numbers, rounded to the second grid and kept within its ends (-128 and 127 steps). Got: other
numbers in some elements, beyond the ends of the grid too; the quantizer is fused into the reduction. Without the second grid the answer
is right. ONNX Runtime is right. GlobalAveragePool, which becomes the same node, is wrong alike. Found by `assay fuzz --flow openvino-f32
--seed 3` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

STEP = 0.0234375
GRAPH = """<ir_version: 8, opset_import: ["" : 13]> g (uint8[3,2,4] x) => (float[3,2,1] y)
  <float s = {0.05}, uint8 z = {131}, float u = {0.0234375}, int8 o = {0}> {
    r = DequantizeLinear (x, s, z)  m = MEAN (r)
    q = QuantizeLinear (m, u, o)  y = DequantizeLinear (q, u, o) }"""
even, odd = [39, 52, 138, 36], [0, 255, 7, 90]
x = np.array([even, even, odd, odd, even, odd], np.uint8).reshape(3, 2, 4)
means = ((x.astype(np.float64) - 131) * np.float32(0.05)).mean(2)
right = (np.clip(np.rint(means / STEP), -128, 127) * STEP).reshape(-1)
wrong = False
for mean in ("ReduceMean <axes = [2]>", "GlobalAveragePool"):
    model = parser.parse_model(GRAPH.replace("MEAN", mean))
    read = openvino.Core().read_model(model.SerializeToString())
    got = openvino.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0].reshape(-1)
    bad = not np.allclose(got, right)
    print(f"{mean}: {got.round(3).tolist()}, due {right.round(3).tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
