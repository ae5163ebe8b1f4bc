"""OpenVINO 2026.4.1, CPU: Min and Max with constants of one element become one bound each, and lose the axes that these add.

Expected: of x [3], Min with a constant [1, 1] and Max with a scalar are [1, 3], as each is broadcast. Got: [3]. Both become a Clamp, whose
result has the shape of x. Each of the two alone is right, and so are constants of three elements. No error and no warning. Found by
`assay fuzz --flow openvino-f32 --seed 292032` (generator arithmetic).
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

x = np.array([-1, 0, 2], np.float32)
wrong = False
for name, nodes in (
    ("Min, Max", "<float[1,1] h = {1}, float l = {0}> { m = Min (x, h)  y = Max (m, l) }"),
    ("Max, Min", "<float h = {1}, float[1,1] l = {0}> { m = Max (x, l)  y = Min (m, h) }"),
    ("Min alone", "<float[1,1] h = {1}> { y = Min (x, h) }"),
    ("Max of three elements", "<float[1,1] h = {1}, float[3] l = {0, 0, 0}> { m = Min (x, h)  y = Max (m, l) }"),
):
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (float[1,3] y) {nodes}')
    got = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU")(x)[0].shape
    print(f"{name}: {got}, due (1, 3){'  WRONG' if got != (1, 3) else ''}")
    wrong = wrong or got != (1, 3)
sys.exit(int(wrong))
