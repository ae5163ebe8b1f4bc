"""ONNX Runtime 1.31.1, CPU: the inverse of a one-sided DFT (opset 17 and 20) is wrong where the input has not just half of the
frequencies of the given length and one more.

Expected: numpy.fft.irfft, which the standard refers to: what is too much is cut, what is missing is 0. Got: other numbers. Found by the
table of the oracle's operators (docs/oracle.md).
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime

TEXT = '<ir_version: 10, opset_import: ["" : 20]> g (float[1, 6, 2] x, int64 n, int64 axis) => (float[1, m, 1] y) '
model = onnx.parser.parse_model(TEXT + "{ y = DFT <inverse = 1, onesided = 1> (x, n, axis) }")
session = onnxruntime.InferenceSession(model.SerializeToString())
x = np.random.default_rng(0).normal(size=(1, 6, 2)).astype(np.float32)
(spectrum,) = session.run(None, {"x": x, "n": np.array(4), "axis": np.array(1)})
expected = np.fft.irfft(x[..., 0] + 1j * x[..., 1], n=4, axis=1)
error = float(np.abs(spectrum[..., 0] - expected).max())
print("onnxruntime", onnxruntime.__version__, "differs by", error)
sys.exit(error > 1e-5)
