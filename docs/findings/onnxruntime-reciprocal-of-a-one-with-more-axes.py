"""ONNX Runtime 1.31.1, CPU, at the default optimization: 1 / x times y, where the 1 has more axes than x and y, loses these axes.

Expected: the 1 of shape 1 by 1 divided by x, of one axis, has two axes, and so has its product with y. Got: one axis. The pass
DivMulFusion takes (1 / x) * y for y / x and does not look at the shape of the 1; the model declares two axes, and ONNX Runtime warns that
it cannot merge them. With optimization off the answer is right; `disabled_optimizers=["DivMulFusion"]` heals it. Found by
`assay fuzz --flow onnxruntime --seed 291901` (generator arithmetic).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import parser

TEXT = """<ir_version: 8, opset_import: ["" : 13]>
one (float[2] x) => (float[1, 2] z) <float[1, 1] one = {1}, float[2] y = {2, 3}> { part = Div (one, x)  z = Mul (y, part) }"""
x = np.asarray([1, 2], np.float32)
model = parser.parse_model(TEXT).SerializeToString()
right = np.float32([2, 3]) * (np.ones((1, 1), np.float32) / x)
print(f"expected {right.tolist()}")
wrong = False
for disabled in (["DivMulFusion"], []):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"], disabled_optimizers=disabled)
    (got,) = session.run(None, {"x": x})
    print(f"without {disabled or 'nothing'}: {got.tolist()}")
    wrong = got.shape != right.shape
sys.exit(int(wrong))
