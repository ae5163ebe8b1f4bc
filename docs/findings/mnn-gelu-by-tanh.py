"""MNN 3.6.1, CPU, precision "high": an exact Gelu is computed by tanh, and so are the five operators that say one by Erf.

Expected, by the standard (Gelu-20, `approximate` "none"): 0.5 x (1 + erf(x / sqrt(2))), within some roundings of float32. Got: off by
4.7e-4, which the formula by tanh explains up to 1.8e-4. Div, Erf, Add, Mul by x and Mul by 0.5, in this order, become that Gelu without a
word, as PyTorch exports one before opset 20; where Mul by 0.5 comes first they stay, and are right. `approximate` "tanh" gives the same
numbers. Found on the networks of a detector of traffic (`atspm-detector` 1.1.0).
"""

from __future__ import annotations

import sys
import tempfile
from math import erf, sqrt
from pathlib import Path

import numpy as np
from onnx import parser, save

from assay.backends.mnn.backend import MNN
from assay.core.flow import Flow

HEAD = '<ir_version: 8, opset_import: ["" : 20]> one (float[4001] x) => (float[4001] y)'
CONSTANTS = "<float root = {1.4142135}, float one = {1}, float half = {0.5}>"
GRAPHS = {
    "Gelu": "{ y = Gelu (x) }",
    "by Erf, half at the end": CONSTANTS
    + " { d = Div (x, root)  e = Erf (d)  a = Add (e, one)  m = Mul (x, a)  y = Mul (m, half) }",
    "by Erf, half before x": CONSTANTS
    + " { d = Div (x, root)  e = Erf (d)  a = Add (e, one)  m = Mul (a, half)  y = Mul (x, m) }",
}


def answer(graph: str, x: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "one.onnx"
        save(parser.parse_model(f"{HEAD} {graph}"), model)
        engine = MNN().lower(model, Flow("mnn-f32", "mnn"))
        return engine.run({"x": x})["y"].astype(np.float64)


x = np.linspace(-4, 4, 4001, dtype=np.float32)
wide = x.astype(np.float64)
exact = 0.5 * wide * (1 + np.array([erf(value / sqrt(2)) for value in wide]))
by_tanh = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
wrong = False
for what, graph in GRAPHS.items():
    got = answer(graph, x)
    off, other = (float(np.abs(got - right).max()) for right in (exact, by_tanh))
    print(f"{what}: off by {off:.2g}, by {other:.2g} from the formula by tanh")
    wrong |= off > 5e-6
sys.exit(int(wrong))
