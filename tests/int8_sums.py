"""What this processor's instructions make of sums of bytes."""

from __future__ import annotations

import numpy as np
from onnx import parser

_CHANNELS = 64
_ONES = ", ".join(["127"] * _CHANNELS)
_CONVOLUTION = f"""<ir_version: 8, opset_import: ["" : 17]>
g (float[1, {_CHANNELS}, 1, 1] x) => (float[1, 1, 1, 1] y)
<float sx = {{{1 / 255}}}, uint8 zx = {{0}}, float sw = {{{1 / 127}}}, int8 zw = {{0}}, int8[1, {_CHANNELS}, 1, 1] w = {{{_ONES}}}>
{{
  qx = QuantizeLinear(x, sx, zx)
  dx = DequantizeLinear(qx, sx, zx)
  dw = DequantizeLinear(w, sw, zw)
  y = Conv(dx, dw)
}}"""


def openvino_saturates() -> bool:
    """Whether OpenVINO adds two products of bytes in 16 bits, as on x86 without VNNI: a sum of 64 ones is about 32 then. NNCF
    narrows the weights of the first layer only, and the gate is right to refuse what the others make of theirs."""
    import openvino

    core = openvino.Core()
    model = core.read_model(parser.parse_model(_CONVOLUTION).SerializeToString())
    engine = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    (found,) = engine([np.ones((1, _CHANNELS, 1, 1), np.float32)]).values()
    return bool(found.item() < 0.9 * _CHANNELS)
