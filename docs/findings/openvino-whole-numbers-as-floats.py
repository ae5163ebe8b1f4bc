"""OpenVINO 2026.4.1, CPU, f32: Div, Mod and Pow of int32 and int64 are computed in float32.

Expected: whole numbers, as their type says; 16,777,217 divided by 1 is 16,777,217, and 7 is what is left of it by 10. Got: 16,777,216 and
6.
Beyond 2^24 a float32 has not every whole number. Add, Sub, Mul and Max are right. Ids and hashes are taken modulo a size so. ONNX Runtime
is right. Found by `assay fuzz --flow openvino-f32 --generator arithmetic --seed 28161` (Pow), and by writing down its kin.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

CASES = (
    ("Div", [16_777_217, 50_331_651], [1, 3], [16_777_217, 16_777_217]),
    ("Mod", [16_777_217, 40_353_607], [10, 10], [7, 7]),
    ("Pow", [7, 3], [9, 17], [40_353_607, 129_140_163]),
)
wrong = 0
for kind, dtype in (("int32", np.int32), ("int64", np.int64)):
    for operator, a, b, right in CASES:
        text = f"({kind}[2] a, {kind}[2] b) => ({kind}[2] y) {{ y = {operator} (a, b) }}"
        model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> one {text}')
        read = openvino.Core().read_model(model.SerializeToString())
        compiled = openvino.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        got = np.asarray(compiled([np.asarray(a, dtype), np.asarray(b, dtype)])[0]).tolist()
        print(f"{operator} of {kind}: {got}, expected {right}")
        wrong += got != right
sys.exit(int(wrong > 0))
