"""ONNX Runtime 1.31.1, CPU: LSTM with `clip` does not clip the cell before its activation.

Expected: "clipping ... is applied to the input of activations", of which the cell's tanh is one: with a clip of 0.1 no |h| is above
tanh(0.1). Got: larger ones. Found by the table of the oracle's operators (docs/oracle.md).
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime

TEXT = '<ir_version: 10, opset_import: ["" : 22]> g (float[20, 1, 1] x, float[1, 4, 1] w, float[1, 4, 1] r) => (float[20, 1, 1, 1] y) '
model = onnx.parser.parse_model(TEXT + "{ y = LSTM <hidden_size = 1, clip = 0.1> (x, w, r) }")
session = onnxruntime.InferenceSession(model.SerializeToString())
feeds = {"x": np.ones((20, 1, 1), np.float32), "w": np.ones((1, 4, 1), np.float32), "r": np.ones((1, 4, 1), np.float32)}
(outputs,) = session.run(None, feeds)
bound = float(np.tanh(0.1) / (1 + np.exp(-0.1)))
print("onnxruntime", onnxruntime.__version__, "gives up to", float(outputs.max()), "where", bound, "is the most")
sys.exit(float(outputs.max()) > bound * 1.001)
