"""OpenVINO 2026.4.1, CPU: ReduceL1, ReduceL2 and ReduceLogSum with noop_with_empty_axes give their input.

Expected, by the standard: "reduction over an empty set of axes means that the reduction step behaves like a no-op, but composite-reduction
operators will still perform the non-reduction steps": |x| for ReduceL1 and ReduceL2, log(x) for ReduceLogSum. Got: x, negative numbers too.
ReduceSumSquare and ReduceLogSumExp are right, and ONNX Runtime in all five. Found by `assay fuzz --flow openvino-f32 --seed 3` (generator
random-graphs).
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


x = np.array([1, 2, 3], np.float32)
CASES = (("ReduceL1", -x, x), ("ReduceL2", -x, x), ("ReduceLogSum", x, np.log(x)), ("ReduceSumSquare", x, x * x))
wrong = False
for operator, given, right in CASES:
    graph = f"(float[3] x) => (float[3] y) {{ y = {operator} <noop_with_empty_axes = 1> (x) }}"
    got = answer(18, graph, {"x": given})
    bad = not np.allclose(got, right)
    print(f"{operator} of {given.tolist()}: {got.tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
