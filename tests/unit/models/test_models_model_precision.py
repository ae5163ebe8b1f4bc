"""In which types a model itself computes: what goes in or lies beside it in bytes excuses no layer in bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.models.model_precision import ModelPrecision, model_precision, multiplies

QUANTIZED_CONV = """g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) {
    q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  k = DequantizeLinear(w8, s, i)
    c = Conv <pads = [1, 1, 1, 1]> (d, k)  r = Relu(c)  y = Conv <pads = [1, 1, 1, 1]> (r, v) }"""
BYTES_IN = """g (uint8[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) { t = Transpose <perm = [0, 1, 3, 2]> (x)  f = Cast <to = 1> (t)
    y = Conv <pads = [1, 1, 1, 1]> (f, w) }"""
FLOAT_WEIGHTS = """g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) {
    q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  y = Conv <pads = [1, 1, 1, 1]> (d, w) }"""
WEIGHTS_ONLY = """g (float[2, 3] x) => (float[2, 4] y) { k = DequantizeLinear(m8, s, i)  y = MatMul(x, k) }"""
FOLDED_LATER = """g (float[2, 3] x) => (float[2, 4] y) { q = QuantizeLinear(m, s, i)  k = DequantizeLinear(q, s, i)
    t = Transpose(k)  u = Transpose(t)  y = MatMul(x, u) }"""
HALVES_STORED = """g (float[2, 3] x) => (float[2, 4] y) { k = Cast <to = 1> (mh)  y = MatMul(x, k) }"""
HALF = """g (float[2, 3] x) => (float[2, 4] y) { h = Cast <to = 10> (x)  p = MatMul(h, mh)  y = Cast <to = 1> (p) }"""
TWO_GRIDS = """g (float[2, 3, 3] x) => (float[2, 3, 3] y) { q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)
    t = Transpose <perm = [0, 2, 1]> (d)  y = MatMul(d, t) }"""
INTEGERS = "g (uint8[2, 3] x) => (int32[2, 4] y) { y = MatMulInteger(x, m8) }"
BYTE_SUM = "g (uint8[2, 3] x) => (float[2, 3] y) { a = Add(x, x)  y = Cast <to = 1> (a) }"
FEW_BITS = """g (float[2, 32] x) => (float[2, 4] y) {
    y = com.microsoft.MatMulNBits <K = 32, N = 4, block_size = 32 ATTRIBUTE> (x, packed, scales) }"""
PACKED_ROWS = """g (int64[2] x) => (float[2, 32] y) { y = com.microsoft.GatherBlockQuantized (rows, x, scaled) }"""
GATES = """g (float16[5, 1, 3] x) => (float16[5, 1, 1, 2] y) { y = LSTM <hidden_size = 2> (x, lw, lr) }"""


def read(body: str, folder: Path) -> ModelPrecision:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]> {body}')
    rng = np.random.default_rng(0)
    constants = {
        "s": np.float32(0.1), "z": np.uint8(3), "i": np.int8(0),
        "w": rng.normal(size=(4, 3, 3, 3)).astype(np.float32), "v": rng.normal(size=(4, 4, 3, 3)).astype(np.float32),
        "w8": rng.integers(-9, 9, (4, 3, 3, 3)).astype(np.int8), "m": rng.normal(size=(3, 4)).astype(np.float32),
        "m8": rng.integers(-9, 9, (3, 4)).astype(np.int8), "mh": rng.normal(size=(3, 4)).astype(np.float16),
        "lw": rng.normal(size=(1, 8, 3)).astype(np.float16),
        "packed": rng.integers(0, 255, (4, 1, 16)).astype(np.uint8), "scales": np.ones((4, 1), np.float32),
        "rows": rng.integers(0, 255, (4, 16)).astype(np.uint8), "scaled": np.ones((4, 1), np.float32),
        "lr": rng.normal(size=(1, 8, 2)).astype(np.float16),
    }  # fmt: skip
    used = {name for node in model.graph.node for name in node.input}
    for name, array in constants.items():
        if name in used:
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    onnx.checker.check_model(model)
    onnx.save(model, folder / "m.onnx")
    return model_precision(folder / "m.onnx")


@pytest.mark.parametrize(
    ("body", "kind", "products", "weights", "valued"),
    [
        (QUANTIZED_CONV, "int8", 1, 1, True),
        (BYTES_IN, "int8", 0, 0, True),
        (FLOAT_WEIGHTS, "int8", 0, 0, True),
        (WEIGHTS_ONLY, "int8", 1, 1, True),
        (FOLDED_LATER, "int8", 1, 1, True),
        (HALVES_STORED, "float16", 1, 1, True),
        (HALF, "float16", 1, 1, True),
        (TWO_GRIDS, "int8", 1, 0, True),
        (INTEGERS, "int8", 1, 1, True),
        (BYTE_SUM, "int8", 0, 0, True),
        (BYTE_SUM, "float16", 0, 0, False),
        (GATES, "float16", math.inf, math.inf, True),
        (FEW_BITS.replace("ATTRIBUTE", ""), "int4", 1, 1, True),
        (FEW_BITS.replace("ATTRIBUTE", ", bits = 4"), "int4", 1, 1, True),
        (FEW_BITS.replace("ATTRIBUTE", ", bits = 8"), "int8", 1, 1, True),
        (FEW_BITS.replace("ATTRIBUTE", ", bits = 8"), "int4", 0, 0, False),
        (PACKED_ROWS, "int4", 0, 1, True),
    ],
)
def test_what_a_graph_computes_in(
    body: str, kind: str, products: float, weights: float, valued: bool, tmp_path: Path
) -> None:
    precision = read(body, tmp_path)
    assert (precision.multiplying[kind], precision.weights[kind], kind in precision.values) == (
        products,
        weights,
        valued,
    )


@pytest.mark.parametrize(
    ("operator", "product"),
    [
        ("QLinearAdd", False), ("QLinearGlobalAveragePool", False), ("QLinearMatMul", True),
        ("aten.upsample_bilinear2d.vec", False), ("aten.linear.default", True),
        ("Conv", True), ("QLinearConv", True), ("Convolution", True), ("FullyConnected", True), ("aten.mm", True),
        ("aten.convolution", True), ("MatMulNBits", True), ("CaskGemmConvolution", True), ("fused_conv2d_add_relu", True),
        ("Convert", False), ("DequantizeLinear", False), ("ConvertLayout", False), ("Relu", False), ("MaxPool", False),
        ("CommonSubgraph", False),
    ],
)  # fmt: skip
def test_products_by_their_names(operator: str, product: bool) -> None:
    assert multiplies(operator) is product


@pytest.mark.parametrize("constant", [False, True])
def test_sparse_weights_have_their_type(tmp_path: Path, constant: bool) -> None:
    dense = read(WEIGHTS_ONLY, tmp_path)
    model = onnx.load(tmp_path / "m.onnx")
    (at,) = (place for place, tensor in enumerate(model.graph.initializer) if tensor.name == "m8")
    del model.graph.initializer[at]
    values = numpy_helper.from_array(np.array([3, -2], np.int8), "m8")
    sparse = onnx.helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([1, 5])), [3, 4])
    if constant:
        model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["m8"], sparse_value=sparse))
    else:
        model.graph.sparse_initializer.append(sparse)
    onnx.save(model, tmp_path / "m.onnx")
    assert model_precision(tmp_path / "m.onnx") == dense
