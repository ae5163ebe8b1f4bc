"""MNN 3.6.1, CPU, precision "high": QuantizeLinear and DequantizeLinear before a Split are left out.

Expected, by the standard (QuantizeLinear-13): with a scale of 0.5 each number becomes the next multiple of 0.5: 1.2 becomes 1, and -1.9
becomes -2. Got: the numbers as they were, so that a model is not the one that was calibrated. Found by `assay fuzz --flow mnn-f32 --seed
28106` (generator qdq-graphs), where another pair followed, of uint8 with zero point 128, and each number was 128 steps too low.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import parser, save

from assay.backends.mnn.backend import MNN
from assay.core.flow import Flow

TEXT = """<ir_version: 8, opset_import: ["" : 13]>
one (float[4,1] x) => (float[2,1] y, float[2,1] z) <float s = {0.5}, int8 zero = {0}, int64[2] parts = {2,2}>
{ q = QuantizeLinear (x, s, zero)  d = DequantizeLinear (q, s, zero)  y, z = Split <axis = 0> (d, parts) }"""
with tempfile.TemporaryDirectory() as folder:
    model = Path(folder) / "one.onnx"
    save(parser.parse_model(TEXT), model)
    got = MNN().lower(model, Flow("mnn-f32", "mnn")).run({"x": np.float32([[0.3], [0.7], [1.2], [-1.9]])})
values = [*got["y"].reshape(-1).tolist(), *got["z"].reshape(-1).tolist()]
print(f"{values}, expected [0.5, 0.5, 1, -2]")
sys.exit(int(values != [0.5, 0.5, 1.0, -2.0]))
