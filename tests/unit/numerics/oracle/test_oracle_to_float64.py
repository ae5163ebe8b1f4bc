"""The oracle: float64 throughout, and never a silent float32."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from assay.errors import Lowering, Unsupported
from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.oracle.to_float64 import to_float64
from assay.ports import Tensor
from sentences import says

_THIRD = np.array([1 / 3], np.float64)


def _model(text: str) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model('<ir_version: 10, opset_import: ["" : 21]>\n' + text)
    return model


def _wide(text: str, **feeds: Tensor) -> list[Tensor]:
    return WideEvaluator(_model(text)).evaluate(feeds)


def test_a_cast_to_float_does_not_round() -> None:
    (y,) = _wide("g (float[1] x) => (float[1] y) { a = Cast<to=10>(x)\n y = Cast<to=1>(a) }", x=_THIRD)
    assert y.dtype == np.float64
    assert y[0] == 1 / 3


def test_rounding_to_integers_and_float8_stays() -> None:
    integer, small = _wide(
        "g (float[1] x) => (int32[1] i, float8e4m3fn[1] s) { i = Cast<to=6>(x)\n s = Cast<to=17>(x) }", x=_THIRD * 10
    )
    assert integer.tolist() == [3]
    assert small.dtype == ml_dtypes.float8_e4m3fn
    assert float(small[0]) == 3.25


def test_constants_are_what_the_backend_sees() -> None:
    (y,) = _wide("g (float[1] x) => (float[1] y) { c = Constant<value_float=0.1>()\n y = Mul(x, c) }", x=np.ones(1))
    assert y[0] == float(np.float32(0.1))


def test_constant_of_shape_and_functions_and_subgraphs() -> None:
    text = """g (float[2] x, bool b) => (float[2] y) {
        s = Shape(x)
        zero = ConstantOfShape(s)
        h = Gelu(x)
        z = If(b) <then_branch = g1 () => (float[2] t) { t = Add(h, zero) },
                   else_branch = g2 () => (float[2] e) { f = Constant<value_floats=[1.0, 2.0]>()
                                                         e = Add(x, f) }>
        y = Identity(z)
    }"""
    x = np.array([1 / 3, -2 / 3])
    (other,) = _wide(text, x=x, b=np.array(False))
    assert other.tolist() == [1 / 3 + 1, -2 / 3 + 2]
    (gelu,) = _wide(text, x=x, b=np.array(True))
    from math import erf, sqrt

    assert np.abs(gelu - [v * (1 + erf(v / sqrt(2))) / 2 for v in x]).max() < 1e-7


def test_dequantizing_int32_keeps_every_bit() -> None:
    text = "g (int32[1] x, float s) => (float[1] y) { y = DequantizeLinear(x, s) }"
    (y,) = _wide(text, x=np.array([2**24 + 1], np.int32), s=np.array(1.0))
    assert y[0] == 2**24 + 1


def test_what_cannot_be_done_in_double_is_named() -> None:
    """Bits read as another type are those of the type that the model declares."""
    with pytest.raises(Unsupported, check=says("does not compute BitCast in float64")) as caught:
        _wide("g (int32[2] n) => (float[2] y) { y = BitCast <to = 1> (n) }", n=np.ones(2, np.int32))
    assert "BitCast" in caught.value.node


def _cosines(n: int, periodic: int, *factors: float) -> Tensor:
    turns = 2 * np.pi * np.arange(n) / (n if periodic else n - 1)
    return np.asarray(np.sum([factor * np.cos(order * turns) for order, factor in enumerate(factors)], axis=0))


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize(
    ("operator", "factors"),
    [
        ("HannWindow", (0.5, -0.5)),
        ("HammingWindow", (25 / 46, -21 / 46)),
        ("BlackmanWindow", (0.42, -0.5, 0.08)),
    ],
)
def test_a_type_that_a_node_leaves_to_the_standard_is_widened_too(
    operator: str, factors: tuple[float, ...], periodic: int
) -> None:
    (y,) = _wide(f"g (int64 n) => (float[9] y) {{ y = {operator} <periodic = {periodic}> (n) }}", n=np.array(9))
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, _cosines(9, periodic, *factors), rtol=0, atol=1e-15)


def test_a_matrix_of_mel_weights_is_made_in_double() -> None:
    text = "g (int64 a, int64 b, int64 c, float d, float e) => (float[9, 8] y) { y = MelWeightMatrix(a, b, c, d, e) }"
    (y,) = _wide(text, a=np.array(8), b=np.array(16), c=np.array(8192), d=np.array(0.0), e=np.array(4096.0))
    assert y.dtype == np.float64
    assert y.shape == (9, 8)
    assert set(np.unique(y)) <= {0.0, 1 / 3, 0.5, 2 / 3, 1.0}


def test_bits_have_no_wider_meaning() -> None:
    node = helper.make_node("BitCast", ["x"], ["y"], to=TensorProto.INT32)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.INT32, [1])
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 26)])
    with pytest.raises(Unsupported, match="BitCast"):
        WideEvaluator(model)


def test_widening_twice_changes_nothing() -> None:
    model = _model("g (float[1] x) => (float[1] y) <float w = {0.5}> { y = Add(x, w) }")
    to_float64(model)
    once = model.SerializeToString()
    to_float64(model)
    assert model.SerializeToString() == once
    assert numpy_helper.to_array(model.graph.initializer[0]).dtype == np.float64
    assert model.graph.input[0].type.tensor_type.elem_type == TensorProto.DOUBLE


def test_a_failing_node_is_named() -> None:
    model = _model("g (float[2] x, float[3] z) => (float[2] y) { y = MatMul(x, z) }")
    model.graph.node[0].name = "product"
    with pytest.raises(Lowering, check=says("failed in MatMul: Unable to multiply shapes")) as caught:
        Evaluator(model).evaluate({"x": np.ones(2, np.float32), "z": np.ones(3, np.float32)})
    assert caught.value.node == "product"


def test_values_of_the_outer_graph_live_until_a_subgraph_has_read_them() -> None:
    text = """g (float[1] x, bool b) => (float[1] y) {
        kept = Neg(x)
        other = Abs(kept)
        y = If(b) <then_branch = g1 () => (float[1] t) { t = Identity(kept) },
                   else_branch = g2 () => (float[1] e) { e = Identity(other) }>
    }"""
    (y,) = Evaluator(_model(text)).evaluate({"x": np.ones(1, np.float32), "b": np.array(True)})
    assert y.tolist() == [-1.0]
