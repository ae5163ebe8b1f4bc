"""Padding by negative numbers and the indices of MaxPool, of which onnx.reference has none or others."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch
from onnx import parser

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.ports import Tensor


def _wide(body: str, opset: int = 21, **feeds: Tensor) -> list[Tensor]:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{body}')
    tensors: list[Tensor] = WideEvaluator(model).evaluate(feeds)
    return tensors


def _x(*shape: int) -> Tensor:
    return np.random.default_rng(len(shape)).standard_normal(shape)


@pytest.mark.parametrize(
    ("mode", "named"), [("constant", "constant"), ("edge", "replicate"), ("reflect", "reflect"), ("wrap", "circular")]
)
@pytest.mark.parametrize("begin", [-2, -1, 2])
@pytest.mark.parametrize("end", [-1, 0, 2])
def test_padding_by_negative_numbers_takes_away(mode: str, named: str, begin: int, end: int) -> None:
    x = _x(1, 2, 6)
    text = f'g (double[1, 2, 6] x, int64[6] p) => (double[A, B, C] y) {{ y = Pad <mode = "{mode}"> (x, p) }}'
    (y,) = _wide(text, x=x, p=np.array([0, 0, begin, 0, 0, end]))
    left = torch.from_numpy(x[:, :, max(0, -begin) : 6 + min(0, end)])
    expected = torch.nn.functional.pad(left, (max(0, begin), max(0, end)), named)
    np.testing.assert_array_equal(y, expected.numpy())


def test_padding_by_negative_numbers_in_all_its_forms() -> None:
    x = _x(3, 4)
    by_axis = "g (double[3, 4] x, int64[2] p, double v, int64[1] a) => (double[A, B] y) { y = Pad (x, p, v, a) }"
    (y,) = _wide(by_axis, x=x, p=np.array([-1, 1]), v=np.array(7.0), a=np.array([-1]))
    np.testing.assert_array_equal(y, np.concatenate([x[:, 1:], np.full((3, 1), 7.0)], axis=1))
    by_attribute = "g (double[3, 4] x) => (double[A, B] y) { y = Pad <pads = [-1, 0, 1, -2], value = 5.0> (x) }"
    (y,) = _wide(by_attribute, 10, x=x)
    np.testing.assert_array_equal(y, np.concatenate([x[1:, :2], np.full((1, 2), 5.0)]))
    with pytest.raises(Lowering, match=r"Pad .*: axis 0 of size 3 is padded by -2 and -2"):
        _wide("g (double[3, 4] x, int64[4] p) => (double[A, B] y) { y = Pad (x, p) }", x=x, p=np.array([-2, 0, -2, 0]))


@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("pad", [0, 1])
def test_indices_of_max_pool_are_those_of_torch(ceil_mode: int, stride: int, pad: int) -> None:
    x = -np.abs(_x(2, 3, 7, 6))  # padding by 0 would win
    form = f"kernel_shape = [3, 3], strides = [{stride}, {stride}], pads = [{pad}, {pad}, {pad}, {pad}], ceil_mode = {ceil_mode}"
    text = f"g (double[2, 3, 7, 6] x) => (double[A, B, C, D] y, int64[A, B, C, D] i) {{ y, i = MaxPool <{form}> (x) }}"
    y, indices = _wide(text, x=x)
    expected, places = torch.nn.functional.max_pool2d(
        torch.from_numpy(x), 3, stride, pad, ceil_mode=bool(ceil_mode), return_indices=True
    )
    np.testing.assert_array_equal(y, expected.numpy())
    planes = 42 * np.arange(6).reshape(2, 3, 1, 1)
    np.testing.assert_array_equal(indices, places.numpy() + planes)
    np.testing.assert_array_equal(x.reshape(-1)[indices], y)


def test_indices_of_max_pool_by_columns_and_of_equals() -> None:
    form = "kernel_shape = [2, 2], storage_order = 1"
    text = f"g (double[1, 1, 3, 4] x) => (double[A, B, C, D] y, int64[A, B, C, D] i) {{ y, i = MaxPool <{form}> (x) }}"
    x = np.zeros((1, 1, 3, 4))
    x[0, 0, 0, 0] = np.nan
    _, indices = _wide(text, x=x)
    expected = [[row + 3 * column for column in range(3)] for row in range(2)]
    assert indices[0, 0].tolist() == expected
