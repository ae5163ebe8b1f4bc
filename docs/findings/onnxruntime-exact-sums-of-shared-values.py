"""ONNX Runtime 1.31.1, CPU on x86: with `session.x64quantprecision` a signed constant that two operators read ends the session.

Expected: the same answers as without it. Got: what it prints; signed bytes are rewritten to unsigned ones, and each reader adds the
constant's unsigned twin under one name. Found by nets whose normalizations share their epsilon, quantized per channel.
"""

from __future__ import annotations

import sys

import onnxruntime
from onnx import parser

TEXT = """<ir_version: 9, opset_import: ["" : 17]> g (float[1, 8] a, float[1, 8] b) => (float[1, 8] y, float[1, 8] z)
    <float s = {0.1}, int8 o = {-128}, int8 c = {127}> { v = DequantizeLinear(c, s, o)  y = Add(a, v)  z = Add(b, v) }"""

model = parser.parse_model(TEXT)
failed = 0
for value in ("0", "1"):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", value)
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        print(f"x64quantprecision={value}: a session")
    except Exception as error:  # noqa: BLE001  the library has no exception of its own for it
        failed += 1
        print(f"x64quantprecision={value}: {str(error).strip()[-90:]}")
sys.exit(int(failed > 0))
