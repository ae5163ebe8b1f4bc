"""ONNX Runtime 1.31.1, CPU: Resize in `tf_crop_and_resize` does not crop along an axis whose scale is 1.

Expected: by the standard x_original = start (n - 1) + x (end - start) (n - 1) / (m - 1), for a scale of 1 too. Got: the axis as it
was. Found by the table of the oracle's operators (docs/oracle.md).
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime

TEXT = '<ir_version: 10, opset_import: ["" : 19]> g (float[1, 1, 5, 2] x, float[8] roi, int64[4] sizes) => (float[1, 1, 5, 4] y) '
ATTRIBUTES = 'mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"'
model = onnx.parser.parse_model(TEXT + f"{{ y = Resize <{ATTRIBUTES}> (x, roi, , sizes) }}")
session = onnxruntime.InferenceSession(model.SerializeToString())
x = np.repeat(np.arange(5, dtype=np.float32), 2).reshape(1, 1, 5, 2)
roi = np.array([0, 0, 0.25, 0, 1, 1, 0.75, 1], np.float32)
(got,) = session.run(None, {"x": x, "roi": roi, "sizes": np.array([1, 1, 5, 4])})
print("onnxruntime", onnxruntime.__version__, "gives", got[0, 0, :, 0].tolist(), "where", np.linspace(1, 3, 5).tolist())
sys.exit(not np.allclose(got[0, 0, :, 0], np.linspace(1, 3, 5)))
