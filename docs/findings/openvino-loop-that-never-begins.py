"""OpenVINO 2026.4.1, CPU, at f32: a scan output of a Loop whose condition is false from the beginning is the state, as a scalar.

Expected: the condition is looked at before each iteration, so that there is none, and a scan output has no elements. Got: the number that
goes in, of shape []. With a trip count of 0 in place of the condition it is right. Found by `assay fuzz --flow openvino-f32 --seed 291404`
(generator random-graphs).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

BODY = "b (int64 i, bool c, float s) => (bool d, float t, float k) { d = Identity (c)  t = Neg (s)  k = Neg (t) }"
wrong = 0
for trips, condition in ((4, 0), (0, 1)):
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 13]>
        g (float x) => (float[n] y) <int64 m = {{{trips}}}, bool c = {{{condition}}}>
        {{ s, y = Loop <body = {BODY}> (m, c, x) }}"""
    )
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    shape = compiled([np.array(0.5, np.float32)])[0].shape
    wrong += shape != (0,)
    print(f"{trips} trips at most, condition {condition}: {shape}, expected (0,){'' if shape == (0,) else '  WRONG'}")
sys.exit(int(wrong > 0))
