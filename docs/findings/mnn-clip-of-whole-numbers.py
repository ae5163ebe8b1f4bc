"""MNN 3.6.1, CPU, precision "high": Clip of int32 without bounds gives the bits of a float for each number below 1.

Expected: Clip without `min` and `max` changes nothing. Got: for -1 and for 0 what the bits of the largest float are as a whole number. With
one bound the same numbers are right, and so are floats without any. Found by `assay fuzz --flow mnn-f32 --seed 292021` (generator
arithmetic).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import parser, save

from assay.backends.mnn.backend import MNN
from assay.core.flow import Flow

x = np.array([3, 1, 0, -1, -7])


def answer(kind: str, dtype: type, bounds: str) -> np.ndarray:
    constants = f"<{kind} low = {{-100}}, {kind} high = {{100}}>"
    graph = f"({kind}[5] x) => ({kind}[5] y) {constants} {{ y = Clip (x{bounds}) }}"
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 12]> one {graph}'), model)
        return MNN().lower(model, Flow("mnn-f32", "mnn")).run({"x": x.astype(dtype)})["y"]


wrong = 0
for kind, dtype in (("float", np.float32), ("int32", np.int32), ("int64", np.int64)):
    for bounds in ("", ", low", ", , high", ", low, high"):
        got = answer(kind, dtype, bounds)
        print(f"{kind}, Clip (x{bounds}): {got.astype(np.int64).tolist()}{'  WRONG' if (got != x).any() else ''}")
        wrong += int((got != x).sum())
sys.exit(int(wrong > 0))
