"""ONNX Runtime 1.31.1, CPU: a bias in float32 between quantized inputs and weights is rounded to a grid of its own.

Expected: what the model says, a convolution of dequantized values plus its bias in float32. Got: the bias rounded to whole
steps of scale(x) * scale(w), from optimization level `basic` on (`WeightBiasQuantization`); without that optimizer the answers
are those of the model. By design, and the same error in every element of a channel. Found by `assay check` on a net quantized by
hand, whose biases were left in float32.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import numpy_helper, parser

model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
    g (float[1, 3, 32, 32] x) => (float[1, 4, 32, 32] y) {
      q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  k = DequantizeLinear(w, t, n)
      c = Conv <pads = [1, 1, 1, 1]> (d, k, b)  r = QuantizeLinear(c, s, z)  y = DequantizeLinear(r, s, z) }""")
rng = np.random.default_rng(0)
weights = rng.integers(-60, 60, (4, 3, 3, 3)).astype(np.int8)
bias = rng.normal(0, 0.1, 4).astype(np.float32)
constants = {
    "s": np.float32(0.02), "z": np.uint8(120), "t": np.float32(0.01), "n": np.int8(0), "w": weights, "b": bias,
}  # fmt: skip
model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items())
x = rng.normal(size=(1, 3, 32, 32)).astype(np.float32)
answers = []
for disabled in ([], ["WeightBiasQuantization"]):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"], disabled_optimizers=disabled
    )
    answers.append(session.run(None, {"x": x})[0])
off = np.count_nonzero(answers[0] != answers[1])
print(
    f"{off} of {answers[0].size} elements are another step when scale(x) * scale(w) is {0.02 * 0.01:.3g} and a step {0.02:.3g}"
)
sys.exit(int(off > 0))
