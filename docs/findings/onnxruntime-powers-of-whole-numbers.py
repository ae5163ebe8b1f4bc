"""ONNX Runtime 1.31.1, CPU: Pow of int64 is computed in float64.

Expected: whole numbers, as their type says: 3 to the 35th is 50,031,545,098,999,707, and -1 to any odd power is -1. Got:
50,031,545,098,999,704, and 1 for -1 to the power of 9,007,199,254,740,993. Beyond 2^53 a float64 has not every whole number. Numbers below
that are right, also at every level of optimization. It is there in 1.16.3 and 1.32.0, too. Found by `assay fuzz --flow onnxruntime --seed
301302`, generator arithmetic.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import parser

TEXT = """<ir_version: 8, opset_import: ["" : 13]>
g (int64[4] x, int64[4] y) => (int64[4] z) { z = Pow (x, y) }"""
fed = {"x": np.asarray([3, -1, 7, 10]), "y": np.asarray([35, 9_007_199_254_740_993, 20, 16])}
right = [3**35, -1, 7**20, 10**16]
session = onnxruntime.InferenceSession(parser.parse_model(TEXT).SerializeToString(), providers=["CPUExecutionProvider"])
(got,) = session.run(None, fed)
print(f"expected {right}")
print(f"got      {got.tolist()}")
sys.exit(int(got.tolist() != right))
