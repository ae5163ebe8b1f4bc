"""ONNX Runtime 1.31.1, CPU: MatMulInteger over an axis of no elements never writes its output: it gives what lay in memory.

Expected: a sum over nothing, 0 in each element, as MatMul gives. Got: whatever was there before, another answer each time, and with
luck 0. Found by `assay fuzz --flow onnxruntime --seed 291931` (generator used-engines: an axis of none in a second call).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import parser

TEXT = """<ir_version: 8, opset_import: ["" : 16]>
one (int8[30, 0] a, uint8[0, 20] b) => (int32[30, 20] y) { y = MatMulInteger (a, b) }"""
options = onnxruntime.SessionOptions()
options.enable_cpu_mem_arena = False  # memory that was used is given again sooner
session = onnxruntime.InferenceSession(parser.parse_model(TEXT).SerializeToString(), options)
wrong = 0
for _ in range(20):
    used = [np.full((30, 20), 7, np.int32) for _ in range(100)]
    del used
    (got,) = session.run(None, {"a": np.zeros((30, 0), np.int8), "b": np.zeros((0, 20), np.uint8)})
    wrong = max(wrong, int((got != 0).sum()))
print(f"expected 0 in each of {got.size}, got {np.unique(got).tolist()[:4]}, and another number in {wrong}")
sys.exit(int(wrong > 0))
