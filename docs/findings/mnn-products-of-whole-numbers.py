"""MNN 3.6.1, CPU, precision "high": MatMul of int32 reads the bits of whole numbers as floats.

Expected, by the standard (MatMul, int32 since opset 9): [[38, 44, 50, 56], [83, 98, 113, 128]]. Got, without a word: all 0, as the bits of
small whole numbers are floats of about 1e-45; those of negative ones are NaN. The same numbers as floats are right. Found at first
contact with real models.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import parser, save

from assay.backends.mnn.backend import MNN
from assay.core.flow import Flow

a, b = np.arange(1, 7).reshape(2, 3), np.arange(1, 13).reshape(3, 4)


def answer(kind: str, dtype: type, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    graph = f"({kind}[2,3] a, {kind}[3,4] b) => ({kind}[2,4] y) {{ y = MatMul (a, b) }}"
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> one {graph}'), model)
        engine = MNN().lower(model, Flow("mnn-f32", "mnn"))
        return engine.run({"a": a.astype(dtype), "b": b.astype(dtype)})["y"]


wrong = 0
for kind, dtype in (("float", np.float32), ("int32", np.int32)):
    for sign in (1, -1):
        got, right = answer(kind, dtype, sign * a, b), sign * a @ b
        print(f"{kind}: {got.astype(np.int64).tolist()}, expected {right.tolist()}")
        wrong += int((got != right).sum())
sys.exit(int(wrong > 0))
