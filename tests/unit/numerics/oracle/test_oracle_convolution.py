"""Our convolution and pooling against onnx.reference's own, on random attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from assay.numerics.oracle.convolution import convolved
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.windows import Window, window_of
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensor

_small = st.integers(1, 3)


def _model(operator: str, feeds: dict[str, Tensor], attributes: dict[str, Any]) -> onnx.ModelProto:
    node = helper.make_node(operator, list(feeds), ["y"], **attributes)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feeds.items()]
    graph = helper.make_graph([node], "one", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def _agree(operator: str, feeds: dict[str, Tensor], attributes: dict[str, Any]) -> None:
    model = _model(operator, feeds, attributes)
    expected = ReferenceEvaluator(model).run(None, feeds)
    assert isinstance(expected, list)
    actual = Evaluator(model).evaluate(feeds)[0]
    assert actual.dtype == expected[0].dtype
    assert actual.shape == expected[0].shape
    np.testing.assert_allclose(actual, expected[0], rtol=1e-4, atol=1e-5)


def _noise(*shape: int) -> Tensor:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@st.composite
def _window(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    axes = draw(st.integers(1, 2))
    kernel = tuple(draw(_small) for _ in range(axes))
    dilations = [draw(_small) for _ in range(axes)]
    size = tuple((k - 1) * d + draw(st.integers(1, 5)) for k, d in zip(kernel, dilations, strict=True))
    attributes: dict[str, Any] = {"strides": [draw(_small) for _ in range(axes)], "dilations": dilations}
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    return size, kernel, attributes


@settings(max_examples=60, deadline=None)
@given(_window(), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.booleans())
def test_conv(window: Any, batch: int, groups: int, channels: int, biased: bool) -> None:
    size, kernel, attributes = window
    feeds = {"x": _noise(batch, groups * channels, *size), "w": _noise(groups * 2, channels, *kernel)}
    if biased:
        feeds["b"] = _noise(groups * 2)
    _agree("Conv", feeds, {**attributes, "group": groups})


@settings(max_examples=40, deadline=None)
@given(_window(), st.integers(1, 2), st.booleans())
def test_conv_transpose(window: Any, batch: int, biased: bool) -> None:
    size, kernel, attributes = window
    pads = attributes.get("pads", [0] * (2 * len(size)))
    rows = zip(size, attributes["strides"], kernel, attributes["dilations"], strict=True)
    whole = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in rows]
    assume(all(n > pads[i] + pads[i + len(size)] for i, n in enumerate(whole)))
    feeds = {"x": _noise(batch, 2, *size), "w": _noise(2, 3, *kernel)}
    if biased:
        feeds["b"] = _noise(3)
    _agree("ConvTranspose", feeds, attributes)


def test_pooling_by_hand() -> None:
    x = np.array([[[1.0, -2.0, 3.0, -4.0, 5.0]]], np.float32)
    shared = {"kernel_shape": [2], "strides": [2], "pads": [1, 0], "ceil_mode": 1}
    answers = {
        ("MaxPool", None): [1.0, 3.0, 5.0],
        ("AveragePool", 0): [1.0, 0.5, 0.5],
        ("AveragePool", 1): [0.5, 0.5, 0.5],
    }
    for (operator, include), expected in answers.items():
        attributes = shared if include is None else {**shared, "count_include_pad": include}
        (y,) = Evaluator(_model(operator, {"x": x}, attributes)).evaluate({"x": x})
        assert y.tolist() == [[expected]]


def test_transposed_groups_are_two_convolutions() -> None:
    # onnx.reference 1.23.2 fails where a group makes more than one channel, so it cannot be the judge here.
    x, w = _noise(1, 4, 3, 3), _noise(4, 2, 2, 2)
    both = Evaluator(_model("ConvTranspose", {"x": x, "w": w}, {"group": 2})).evaluate({"x": x, "w": w})[0]
    halves = [
        Evaluator(_model("ConvTranspose", feeds, {})).evaluate(feeds)[0]
        for feeds in ({"x": x[:, :2], "w": w[:2]}, {"x": x[:, 2:], "w": w[2:]})
    ]
    np.testing.assert_allclose(both, np.concatenate(halves, axis=1), rtol=1e-6)


@pytest.mark.parametrize(("auto_pad", "begin", "end"), [("SAME_UPPER", 0, 1), ("SAME_LOWER", 1, 0), ("VALID", 0, 0)])
def test_auto_pad(auto_pad: str, begin: int, end: int) -> None:
    window = window_of([4], [2], {"auto_pad": auto_pad})
    assert (window.begin, window.end) == ((begin,), (end,))


@pytest.mark.parametrize(
    ("op", "attributes", "expected"),
    [
        ("AveragePool", {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_LOWER"}, [1, 2, 2, 3, 4, 4, 5]),
        ("MaxPool", {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_LOWER"}, [2, 3, 4, 5, 6, 5, 6]),
        ("MaxPool", {"kernel_shape": [2], "strides": [3], "auto_pad": "SAME_LOWER"}, [0, 3, 6]),
        ("MaxPool", {"kernel_shape": [2], "strides": [3], "auto_pad": "SAME_UPPER"}, [1, 4, 6]),
    ],
)
def test_same_padding_of_dilated_and_of_overstepping_windows(
    op: str, attributes: dict[str, Any], expected: list[float]
) -> None:
    """By the formula of the standard; onnx.reference 1.23 leaves windows out, or begins them elsewhere."""
    feeds = {"x": np.arange(7, dtype=np.float32).reshape(1, 1, 7)}
    assert Evaluator(_model(op, feeds, attributes)).evaluate(feeds)[0].ravel().tolist() == expected


def test_ceil_mode_reaches_behind_the_end() -> None:
    window = window_of([5], [2], {"strides": [2], "ceil_mode": 1})
    assert window.out == (3,)
    assert window.slack == (1,)


def test_a_window_too_large() -> None:
    with pytest.raises(Conflict) as raised:
        window_of([3], [5], {"pads": [0, 1]})
    assert raised.value.facts == {"window": 5, "size": 3, "padding": 1}


def test_a_convolution_of_more_than_is_gathered_at_once_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    feeds = {"x": _noise(2, 6, 9, 7), "w": _noise(4, 3, 3, 2), "b": _noise(4)}
    attributes = {"group": 2, "strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 2, 1]}
    for most in (1, 100, 1 << 19):
        monkeypatch.setattr("assay.numerics.oracle.convolution.COLUMNS", most)
        _agree("Conv", feeds, attributes)


@pytest.mark.parametrize("made", [1, 2, 5])
def test_a_channel_by_itself_gives_one_or_several(made: int) -> None:
    """One is summed where it lies, several are a product of matrices."""
    feeds = {"x": _noise(2, 3, 9, 7), "w": _noise(3 * made, 1, 3, 2), "b": _noise(3 * made)}
    _agree("Conv", feeds, {"group": 3, "strides": [2, 1], "pads": [1, 0, 2, 1]})


def test_an_empty_batch_stays_empty() -> None:
    x, w = np.zeros((0, 3, 5, 5), np.float32), _noise(4, 3, 3, 3)
    assert Evaluator(_model("Conv", {"x": x, "w": w}, {})).evaluate({"x": x, "w": w})[0].shape == (0, 4, 3, 3)


def test_no_channels_make_zeros() -> None:
    x, w = np.zeros((1, 0, 5, 5), np.float32), np.zeros((4, 0, 3, 3), np.float32)
    y = Evaluator(_model("Conv", {"x": x, "w": w}, {})).evaluate({"x": x, "w": w})[0]
    assert y.tolist() == np.zeros((1, 4, 3, 3)).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8"])
def test_relu_keeps_its_type(dtype: str) -> None:
    x = np.array([-2, 0, 3], dtype)
    node = helper.make_node("Relu", ["x"], ["y"])
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", element, [3])],
        [helper.make_tensor_value_info("y", element, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    (y,) = Evaluator(model).evaluate({"x": x})
    assert y.dtype == x.dtype
    assert y.tolist() == [0, 0, 3]


@pytest.mark.parametrize("out", [(5,), (3, 7), (1, 9), (4, 3, 5), (1, 1, 11)])
@pytest.mark.parametrize("most", [1, 4, 16, 1000])
def test_the_blocks_of_an_output_cover_it_in_order_without_a_gap(out: tuple[int, ...], most: int) -> None:
    window = Window(*[(1,) * len(out)] * 6, out=out)
    places = np.arange(math.prod(out)).reshape(out)
    blocks = [
        places[tuple(slice(first, first + size) for first, size in zip(*block, strict=True))].reshape(-1)
        for block in window.blocks(most)
    ]
    assert np.concatenate(blocks).tolist() == list(range(places.size))
    assert all(block.size <= most for block in blocks)


@pytest.mark.parametrize("size", [(6, 9), (4, 5, 6), (23,)])
def test_a_convolution_in_blocks_is_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch, size: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x, w = random.standard_normal((2, 3, *size)), random.standard_normal((4, 3, *[3] * len(size)))
    attributes = {"strides": [2] * len(size), "pads": [1] * (2 * len(size))}
    whole = convolved(x, w, None, attributes)
    monkeypatch.setattr("assay.numerics.oracle.convolution.COLUMNS", 1)
    np.testing.assert_allclose(convolved(x, w, None, attributes), whole, rtol=1e-12, atol=1e-12)
