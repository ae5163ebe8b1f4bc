"""IREE 3.13.0, its reader of ONNX, llvm-cpu: operators that are answered wrongly, without a word.

Expected, by the standard:

* LSTM-14: with peepholes P each gate adds P times the state of the cell. Got: the answer without them.
* RNN-14 and GRU-14: the functions that `activations` names, here ThresholdedRelu(x) = x where x > 1, else 0, and Softplus. Got: those of
  Relu.
* Abs-13 of uint8: the number itself. Got: 1 of 255, as of a signed byte.
* AveragePool-19 with ceil_mode and count_include_pad: only padding counts, not what lies beyond it: (3 + 4 + 5) / 3. Got: a fourth of the
  sum.
* SpaceToDepth-28 with mode CRD: channel c * b * b + i * b + j. Got: that of mode DCR.
* MaxPool-12: the places of the maxima count through the whole tensor. Got: through each channel of each sample anew.
* SplitToSequence-11 with one size for each part: a sequence of so many. Got: a sequence of one.

Found by the cases of other backends in the suite `regressions`; the last two by `assay fuzz --flow iree-llvm-cpu --seed 28101` (generators
qdq-graphs and random-graphs).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import iree.runtime
import numpy as np
import onnx
from iree.compiler.tools import compile_str

TOOL = str(Path(sys.executable).parent / "iree-import-onnx")


def answer(graph: str, opset: int, *fed: np.ndarray) -> np.ndarray:
    """Of a graph in the syntax of onnx."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> one {graph}')
    with tempfile.TemporaryDirectory() as name:
        onnx.save(model, f"{name}/m.onnx")
        subprocess.run([TOOL, "m.onnx", "-o", "m.mlir"], cwd=name, check=True, env=dict(os.environ))
        text = Path(name, "m.mlir").read_text()
    module = compile_str(
        text, input_type="onnx", target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"]
    )
    return np.asarray(iree.runtime.load_vm_flatbuffer(module, driver="local-sync").one(*fed))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(x: np.ndarray, w: np.ndarray, peepholes: np.ndarray) -> np.ndarray:
    """One step of one sample with one hidden number, whose first state and recurrence are 0: then only the output gate sees a cell."""
    i, o, _, c = w.reshape(4) * x.item()
    cell = sigmoid(i) * np.tanh(c)
    return np.asarray(sigmoid(o + peepholes.reshape(3)[1] * cell) * np.tanh(cell))


single = np.ones((1, 1, 1), np.float32)
gates, peepholes = np.float32([0.5, -1, 2, 3]).reshape(1, 4, 1), np.float32([[1, 4, 2]])
steps = np.float32([-0.5, 0.5, 1.5]).reshape(1, 3, 1)
channels = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
softplus = (1 - sigmoid(np.float64(1))) * np.log1p(np.e)
answers = {
    "LSTM with peepholes": (
        answer(
            "(float[1,1,1] x, float[1,4,1] w, float[1,4,1] r, float[1,3] p) => (float[1,1,1,1] y)"
            " { y = LSTM <hidden_size = 1> (x, w, r, , , , , p) }",
            14, single, gates, np.zeros_like(gates), peepholes,
        ),
        lstm(single, gates, peepholes),
    ),
    "RNN by ThresholdedRelu": (
        answer(
            "(float[1,3,1] x, float[1,1,1] w, float[1,1,1] r) => (float[1,1,3,1] y)"
            ' { y = RNN <hidden_size = 1, activations = ["ThresholdedRelu"], activation_alpha = [1.0]> (x, w, r) }',
            14, steps, single, 0 * single,
        ),
        np.float32([0, 0, 1.5]),
    ),
    "GRU by Softplus": (
        answer(
            "(float[1,1,1] x, float[1,3,1] w, float[1,3,1] r) => (float[1,1,1,1] y)"
            ' { y = GRU <hidden_size = 1, activations = ["Sigmoid", "Softplus"]> (x, w, r) }',
            14, single, np.ones((1, 3, 1), np.float32), np.zeros((1, 3, 1), np.float32),
        ),
        np.asarray(softplus),
    ),
    "Abs of uint8": (
        answer("(uint8[2] x) => (uint8[2] y) { y = Abs (x) }", 13, np.uint8([7, 255])),
        np.float32([7, 255]),
    ),
    "AveragePool beyond its padding": (
        answer(
            "(float[1,1,5] x) => (float[1,1,2] y)"
            " { y = AveragePool <kernel_shape = [4], strides = [3], pads = [1,0], ceil_mode = 1, count_include_pad = 1> (x) }",
            19, np.float32([[[1, 2, 3, 4, 5]]]),
        ),
        np.float32([1.5, 4]),
    ),
    "SpaceToDepth, CRD": (
        answer("(float[1,2,2,2] x) => (float[1,8,1,1] y) { y = SpaceToDepth <blocksize = 2, mode = \"CRD\"> (x) }", 28, channels),
        channels,
    ),
    "MaxPool, places": (
        answer("(float[1,2,2,2] x) => (int64[1,2,1,1] i) { y, i = MaxPool <kernel_shape = [2,2]> (x) }", 12, channels),
        np.float32([3, 7]),
    ),
    "SplitToSequence by sizes": (
        answer(
            "(float[7,1] x) => (int64 n) <int64[2] sizes = {3,4}> { s = SplitToSequence (x, sizes)  n = SequenceLength (s) }",
            11, np.ones((7, 1), np.float32),
        ),
        np.asarray(2),
    ),
}  # fmt: skip
wrong = 0
for name, (got, expected) in answers.items():
    right = bool(np.allclose(got.reshape(-1), expected.reshape(-1), rtol=1e-5))
    print(
        f"{name}: {got.reshape(-1).tolist()}, expected {expected.reshape(-1).tolist()}: {'right' if right else 'wrong'}"
    )
    wrong += not right
sys.exit(int(wrong > 0))
