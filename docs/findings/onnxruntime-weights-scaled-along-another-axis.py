"""ONNX Runtime 1.31.1, CPU, at the default optimization: a convolution between quantizers whose weights have a scale along an axis
that is not the first is answered wrongly.

Expected: the convolution of dequantized values; the axis of DequantizeLinear is any axis of the weights. Got: other numbers where there are
as many scales as output channels, and else `QLinearConv : filter scale shape invalid` while it runs: DequantizeLinear, Conv and
QuantizeLinear are fused into a QLinearConv, which knows scales of output channels only; nothing looks at the axis. With optimization off
the answer is right. (The same of MatMul: onnxruntime-integer-product-scaled-by-rows.py.) Found by `assay fuzz --flow onnxruntime --seed
2611` (generator qdq-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import parser

TEXT = """<ir_version: 9, opset_import: ["" : 19]> g (float[1,1,4] x) => (float[1,2,3] y)
  <int8[2,1,2] w = {10, 20, -10, 5}, float[2] s = {0.1, 0.2}, int8[2] n = {0, 0}, float t = {0.5}, int8 z = {0}> {
    q = QuantizeLinear (x, t, z)  d = DequantizeLinear (q, t, z)  v = DequantizeLinear <axis = 2> (w, s, n)
    c = Conv (d, v)  r = QuantizeLinear (c, t, z)  y = DequantizeLinear (r, t, z) }"""
model = parser.parse_model(TEXT).SerializeToString()
x = np.array([1, 2, 3, -1], np.float32)
kernels = np.array([[1, 4], [-1, 1]])
right = np.stack([np.correlate(x, kernel, "valid") for kernel in kernels])
plain = onnxruntime.SessionOptions()
plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
wrong = False
for name, options in (("without optimization", plain), ("by default", onnxruntime.SessionOptions())):
    try:
        got = onnxruntime.InferenceSession(model, options).run(None, {"x": x.reshape(1, 1, 4)})[0][0].tolist()
    except Exception as error:  # noqa: BLE001  whatever it raises
        got = str(error)[-60:].strip()
    bad = got != right.tolist()
    print(f"{name}: {got}, due {right.tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
