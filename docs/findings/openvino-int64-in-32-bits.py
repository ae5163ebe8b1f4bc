"""OpenVINO 2026.4.1, CPU: int64 is computed in 32 bits, and what does not fit wraps or saturates without a word.

Expected: 64-bit whole numbers, as the type of inputs and outputs says: 3,000,000,000 + 1 is 3,000,000,001. Got: -1294967295. Add, Sub, Mul
and Min wrap, Max saturates at 2147483647. Ids, hashes and times are such numbers. ONNX Runtime is right in Add, Sub, Mul and Max. Found by
`assay run regressions --flow openvino-f32` on a case of another backend.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import parser

F32 = {"INFERENCE_PRECISION_HINT": "f32"}


def answer(opset: int, graph: str, feeds: dict[str, np.ndarray]) -> np.ndarray:
    """What OpenVINO makes of a graph of one output."""
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> g {graph}')
    read = openvino.Core().read_model(model.SerializeToString())
    return np.asarray(openvino.compile_model(read, "CPU", F32)(feeds)[0])


BIG = 3_000_000_000
x = np.array([BIG, 5, 2**41], np.int64)
CASES = (
    ("Add", 1, x + 1),
    ("Sub", BIG, x - BIG),
    ("Mul", 2, x * 2),
    ("Min", 100, np.minimum(x, 100)),
    ("Max", BIG, np.maximum(x, BIG)),
)
wrong = False
for operator, other, right in CASES:
    graph = f"(int64[3] x) => (int64[3] y) <int64 b = {{{other}}}> {{ y = {operator} (x, b) }}"
    got = answer(18, graph, {"x": x})
    bad = not np.array_equal(got, right)
    print(f"{operator} {other}: {got.tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
