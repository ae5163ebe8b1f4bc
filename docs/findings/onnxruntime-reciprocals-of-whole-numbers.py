"""ONNX Runtime 1.31.1, CPU, at the default optimization: 1 / x times y, of whole numbers, becomes y / x.

Expected: a division of whole numbers is cut to a whole number, so that 1 / 2 is 0, and 0 times 6 is 0. Got: 3. The pass DivMulFusion takes
(1 / x) * y for y / x and does not look at the type. With optimization off the answer is right; `disabled_optimizers=["DivMulFusion"]` heals
it. It is there in 1.15.1 and 1.17.0, too. Found by `assay fuzz --flow onnxruntime --generator arithmetic --seed 28160`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import parser

TEXT = """<ir_version: 8, opset_import: ["" : 13]>
one (int64[3] x, int64[3] y) => (int64[3] z) <int64 one = {1}> { part = Div (one, x)  z = Mul (part, y) }"""
fed = {"x": np.asarray([2, 3, 1]), "y": np.asarray([6, 7, 5])}
model = parser.parse_model(TEXT).SerializeToString()
right = 1 // fed["x"] * fed["y"]
print(f"expected {right.tolist()}")
wrong = 0
for disabled in (["DivMulFusion"], []):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"], disabled_optimizers=disabled)
    (got,) = session.run(None, fed)
    print(f"without {disabled or 'nothing'}: {got.tolist()}")
    wrong = int((got != right).sum())
sys.exit(int(wrong > 0))
