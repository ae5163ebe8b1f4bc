"""OpenVINO 2026.4.1, CPU, at f32: seven nodes that are wrong without a word, each by a cause of its own.

Expected and got, with the sentence of the standard:

* MaxPool with `storage_order` 1: "The dimensions of indices are the same as output tensor", and places count along columns. Got: the last
  two dimensions are exchanged, and the indices are of rows.
* TopK of equal values: "the element with the lower index will appear first". Got: another order of indices.
* Scan whose body adds its inputs: the state of the second step is what the first step gave. Got: the slice is read in its place.
* Unique with `sorted` 0: "maintained in the same order they occur in input". Got: 0 for numbers that are there.
* LSTM with `input_forget` 1: "Couple the input and forget gates". Got: as without.
* ConvTranspose with `output_shape` and SAME_UPPER: "If (auto_pads == SAME_UPPER): pads[start_i] = total_padding[i]/2". Got: the larger
  half at the start.
* SequenceAt with a negative position that is an input: "Negative value means counting positions from the back". Got: the last element.

Found by `assay fuzz --flow openvino-f32 --seed 20261127` (generators near-misses, random-graphs and sweep). ONNX Runtime is right in each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
import onnx
import openvino

Arrays = Mapping[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def run(text: str, opset: int, feeds: Arrays) -> list[np.ndarray]:  # type: ignore[type-arg]
    """By OpenVINO."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\nm {text}')
    onnx.checker.check_model(model)
    read = openvino.Core().read_model(model.SerializeToString())
    compiled = openvino.Core().compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(dict(feeds))
    return [np.asarray(results[place]) for place in range(len(model.graph.output))]


ONES = np.ones((1, 4, 1), np.float32)
image = np.asarray([[3, 1, 2], [0, 9, 4]], np.float32).reshape(1, 1, 2, 3)
equal = np.asarray([[1, 3, 0, 3, 2, 1, 3, 0, 2, 3, 1, 3, 2, 0, 3, 1]], np.int64)
CASES = (
    (
        "MaxPool, storage_order",
        "(float[1,1,2,3] x) => (float[1,1,1,3] y, int64[1,1,1,3] i) { y, i = MaxPool <kernel_shape = [2,1], storage_order = 1> (x) }",
        12,
        {"x": image},
        [[[[[3, 9, 4]]]], [[[[0, 3, 5]]]]],
    ),
    (
        "TopK of equal values",
        "(int64[1,16] x) => (int64[1,10] y, int64[1,10] i) <int64[1] k = {10}> { y, i = TopK (x, k) }",
        13,
        {"x": equal},
        [[[3, 3, 3, 3, 3, 3, 2, 2, 2, 1]], [[1, 3, 6, 9, 11, 14, 4, 8, 12, 0]]],
    ),
    (
        "Scan",
        """(float[1] s, float[3,1] x) => (float[1] y, float[3,1] z) { y, z = Scan <num_scan_inputs = 1, body = b (float[1] t, float[1] e)
          => (float[1] u, float[1] v) { u = Add (e, t)  v = Neg (u) }> (s, x) }""",
        13,
        {"s": np.zeros(1, np.float32), "x": np.asarray([[1], [2], [3]], np.float32)},
        [[6], [[-1], [-3], [-6]]],
    ),
    (
        "Unique, not sorted",
        "(float[6] x) => (float[3] y, int64[3] i) { y, i = Unique <sorted = 0> (x) }",
        13,
        {"x": np.asarray([2, 2, 0, 2, 1, 0], np.float32)},
        [[2, 0, 1], [0, 2, 4]],
    ),
    (
        "LSTM, input_forget",
        """(float[2,1,1] x, float[1,4,1] w, float[1,4,1] r) => (float[2,1,1,1] y)
          { y = LSTM <hidden_size = 1, input_forget = 1> (x, w, r) }""",
        14,
        {"x": np.ones((2, 1, 1), np.float32), "w": ONES, "r": np.zeros((1, 4, 1), np.float32)},
        None,
    ),
    (
        "ConvTranspose, output_shape",
        """(float[1,1,3] x) => (float[1,1,6] y) <float[1,1,3] w = {1,10,100}>
          { y = ConvTranspose <output_shape = [6], strides = [2], auto_pad = "SAME_UPPER"> (x, w) }""",
        11,
        {"x": np.asarray([[[1, 2, 3]]], np.float32)},
        [[[[1, 10, 102, 20, 203, 30]]]],
    ),
    (
        "SequenceAt, negative",
        "(float[3] a, float[3] b, float[3] c, int64 at) => (float[3] y) { q = SequenceConstruct (a, b, c)  y = SequenceAt (q, at) }",
        13,
        {**{name: np.full(3, n, np.float32) for n, name in enumerate("abc")}, "at": np.asarray(-3, np.int64)},
        [[0, 0, 0]],
    ),
)


def coupled() -> list[list[float]]:
    """The forget gate is 1 - i."""
    gate = 1 / (1 + np.exp(-1.0))
    first = gate * np.tanh(1.0)
    second = (1 - gate) * first + gate * np.tanh(1.0)
    return [[gate * np.tanh(first), gate * np.tanh(second)]]


wrong = 0
for name, text, opset, feeds, stated in CASES:
    due = stated if stated is not None else coupled()
    given = run(text, opset, feeds)
    shaped = [np.asarray(array, np.float64) for array in due]
    bad = any(
        (stated is not None and got.shape != other.shape)
        or got.size != other.size
        or not np.allclose(got.reshape(-1), other.reshape(-1), atol=1e-5)
        for got, other in zip(given, shaped, strict=True)
    )
    wrong += bad
    print(
        f"{name}: {[array.tolist() for array in given]}, due {[array.tolist() for array in shaped]}{'  WRONG' if bad else ''}"
    )
sys.exit(int(wrong > 0))
