"""OpenVINO 2026.4.1, CPU, at f32: an output that a Cast to the same type gives is overwritten by what is computed later.

Expected: Cast (float32 to float32) and CastLike give the numbers of their input. Got, where that output is also one operand of an Add or a
Mul that broadcasts it, and a node follows: the right numbers at the beginning, and then those of the other output. The other output is
right. Found by `assay fuzz --flow openvino-f32 --seed 291604` (generator equal-models). Not so up to 16 numbers, without broadcasting, with
Relu in the place of Cast, or with int32.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

ROWS, WIDTH = 3, 18
rng = np.random.default_rng(0)
fed = {
    "x": rng.normal(size=WIDTH).astype(np.float32),
    "z": rng.normal(size=(ROWS, WIDTH)).astype(np.float32),
}
wrong = 0
for first in ("Cast <to = 1> (x)", "CastLike (x, z)", "Relu (x)"):
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 15]>
        g (float[{WIDTH}] x, float[{ROWS},{WIDTH}] z) => (float[{ROWS},{WIDTH}] y, float[{WIDTH}] c)
        {{ c = {first}  s = Add (z, c)  y = Neg (s) }}"""
    )
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    given = compiled(fed)[1]
    due = np.maximum(fed["x"], 0) if first.startswith("Relu") else fed["x"]
    off = int((given != due).sum())
    wrong += off
    print(f"{first}: {off} of {WIDTH} numbers are not those of x{'  WRONG' if off else ''}")
sys.exit(int(wrong > 0))
