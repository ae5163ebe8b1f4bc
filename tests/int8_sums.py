"""What this processor's instructions make of sums of bytes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

_MANY = 64
_TEXT = f"""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1, {_MANY}] x, int8[{_MANY}, 1] w) => (int32[1, 1] y) {{ y = MatMulInteger(x, w) }}"""


def skip_where_sums_saturate() -> None:
    """On x86 without VNNI two products of bytes are added in 16 bits, by ONNX Runtime and by OpenVINO: the gate is right to refuse
    int8 engines there (docs/backends/onnxruntime.md), and a test that wants them to pass has nothing to say."""
    import onnxruntime

    session = onnxruntime.InferenceSession(
        parser.parse_model(_TEXT).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    largest = {"x": np.full((1, _MANY), 255, np.uint8), "w": np.full((_MANY, 1), 127, np.int8)}
    (total,) = session.run(None, largest)
    if total.item() != _MANY * 255 * 127:
        pytest.skip("int8 engines saturate on this processor: it has no VNNI")
