"""MNN 3.6.1, CPU, precision "high": Mul of int32 multiplies as floats, and what has more than 24 bits is another number.

Expected: -1 times 387420489 is -387420489, as it is in int32, and as Add and Sub are exact of the same numbers. Got: -387420480, which is
the float nearest to it. Found by `assay fuzz --flow mnn-f32 --seed 293021` (generator arithmetic).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import parser, save

from assay.backends.mnn.backend import MNN
from assay.core.flow import Flow

a, b = np.array([-1, 3, 1], np.int32), np.array([387420489, 5592407, 4782969], np.int32)
wrong = 0
for operator, due in (("Add", a + b), ("Sub", a - b), ("Mul", a * b)):
    text = f"one (int32[3] a, int32[3] b) => (int32[3] y) {{ y = {operator} (a, b) }}"
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 14]> {text}'), model)
        got = MNN().lower(model, Flow("mnn-f32", "mnn")).run({"a": a, "b": b})["y"]
    print(f"{operator}: {got.tolist()}, due {due.tolist()}{'  WRONG' if (got != due).any() else ''}")
    wrong += int((got != due).sum())
sys.exit(int(wrong > 0))
