"""OpenVINO 2026.4.1, CPU: AveragePool with ceil_mode and count_include_pad divides by elements that are neither data nor padding.

Expected: the last window of [1, 2, 3, 4, 5] (4 wide, 3 apart, one element padded before) holds 3, 4, 5 and reaches one beyond the end: its
mean is 4, as PyTorch, to which the standard links for explicit padding, ONNX Runtime and onnx's evaluator have it: nothing is padded
there. Got: 3, a sum of 12 divided by 4. Without count_include_pad the answer is right. Found by `assay fuzz --flow openvino-f32 --seed 3`
(generator qdq-graphs).
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


x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
wrong = False
for counted, right in ((0, [2, 4]), (1, [1.5, 4])):
    graph = f"""(float[1,1,5] x) => (float[1,1,2] y)
      {{ y = AveragePool <kernel_shape = [4], strides = [3], pads = [1, 0], ceil_mode = 1, count_include_pad = {counted}> (x) }}"""
    got = answer(19, graph, {"x": x}).reshape(-1)
    bad = not np.allclose(got, right)
    print(f"count_include_pad {counted}: {got.tolist()}, due {right}{'  WRONG' if bad else ''}")
    wrong = wrong or bad
sys.exit(int(wrong))
