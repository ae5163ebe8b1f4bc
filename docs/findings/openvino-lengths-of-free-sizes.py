"""OpenVINO 2026.4.1, CPU: a GRU, LSTM or RNN of free sizes does not read `sequence_lens`: every sequence is taken as full.

Expected: behind the end of a sequence Y is 0, and backwards it begins at that end, as with fixed sizes (off by 1e-7). Got, where the
length or the batch is free: what the layer gives without `sequence_lens`. Found by `assay check` on a diacritizer of texts
(`piper-tts`, masked texts), and by `assay triage`, which made 5 of its 688 nodes of it: a TopK that sizes follow from, and the GRU
behind it.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from onnx import numpy_helper, parser

LENGTH, SHORT, BATCH, SIZE = 6, 4, 2, 4
GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
F32 = {"INFERENCE_PRECISION_HINT": "f32"}


def answer(operator: str, length: str | int, batch: str | int) -> np.ndarray:
    """Y of a layer with these sizes, and constant weights."""
    rng, rows = np.random.default_rng(0), GATES[operator] * SIZE
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 16]>
        g (float[{length},{batch},3] x, int32[{batch}] lens) => (float[{length},1,{batch},{SIZE}] y)
        {{ y = {operator} <hidden_size = {SIZE}> (x, w, r, , lens) }}"""
    )
    for name, width in (("w", 3), ("r", SIZE)):
        weight = rng.standard_normal((1, rows, width)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weight, name))
    x = rng.standard_normal((LENGTH, BATCH, 3)).astype(np.float32)
    read = openvino.Core().read_model(model.SerializeToString())
    compiled = openvino.compile_model(read, "CPU", F32)
    return np.asarray(compiled({"x": x, "lens": np.array([LENGTH, SHORT], np.int32)})[0])


wrong = 0
for operator in GATES:
    for length, batch in ((LENGTH, BATCH), (LENGTH, "b"), ("l", BATCH), ("l", "b")):
        beyond = float(np.abs(answer(operator, length, batch)[SHORT:, 0, 1]).max())
        wrong += beyond > 0
        print(
            f"{operator} [{length}, {batch}]: up to {beyond:.2f} behind the end of a sequence{'  WRONG' if beyond else ''}"
        )
sys.exit(int(wrong > 0))
