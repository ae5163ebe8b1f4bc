"""OpenVINO 2026.4.1, CPU: MaxPool tells place 0 where the maximum of a window is the lowest number of its type.

Expected: the place of the maximum, whatever it is: of bytes 2, 0, 3, 0 with a window of one the places are 0, 1, 2, 3. Got: 0, 0, 2, 0. The
search begins with the lowest number and place 0, and takes what is larger. A black picture of bytes has 0 everywhere. ONNX Runtime 1.16.3
did the same, and 1.31.1 does not. Found by `assay fuzz` on that old release (seed 292101, generator near-misses), and by a look at
OpenVINO beside.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

wrong = False
for kind, dtype, numbers in (
    ("uint8", np.uint8, [2, 0, 3, 0]),
    ("int8", np.int8, [-128, 5, -128, -128]),
    ("int32", np.int32, [-(2**31), 1, -(2**31), 0]),
):
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 12]>
    g ({kind}[1,1,4] x) => ({kind}[1,1,4] y, int64[1,1,4] i) {{ y, i = MaxPool <kernel_shape = [1]> (x) }}""")
    engine = openvino.compile_model(openvino.Core().read_model(model.SerializeToString()), "CPU")
    places = np.asarray(engine(np.array(numbers, dtype).reshape(1, 1, 4))[1]).reshape(-1).tolist()
    print(f"{kind} {numbers}: places {places}{'  WRONG' if places != [0, 1, 2, 3] else ''}")
    wrong = wrong or places != [0, 1, 2, 3]
sys.exit(int(wrong))
