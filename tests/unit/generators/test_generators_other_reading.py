"""A scale that makes no whole length: the text of Resize has two scales then, and only what is right by neither is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.core.flow import Flow
from assay.core.screening import Unspecified
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far, compare, judge, other_reading
from assay.ports.generator import GeneratedCase


def _resized(way: str, opset: int = 19, size: int = 7, scale: float = 1.5) -> CaseValues:
    steering = [numpy_helper.from_array(np.asarray([1.0, scale], np.float32), "s")]
    reads = ["x", "s"] if opset < 11 else ["x", "", "s"]
    stated = {} if opset < 11 else {"coordinate_transformation_mode": way}
    node = helper.make_node("Resize", reads, ["y"], mode="linear", **stated)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, int(size * scale)])],
        steering,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    x = np.asarray([[place * place for place in range(size)]], np.float32)
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": x}))
    values.evaluate()
    return values


def _by_lengths(size: int, out: int) -> np.ndarray:
    """Linear, half_pixel, by the quotient of the lengths, written down by hand."""
    places = np.clip((np.arange(out) + 0.5) * size / out - 0.5, 0, size - 1)
    return np.interp(places, np.arange(size), np.arange(size) ** 2)[None].astype(np.float32)


def test_an_answer_by_the_quotient_of_the_lengths_is_right_by_the_other_reading() -> None:
    values = _resized("half_pixel")
    assert np.abs(_by_lengths(7, 10) - values.wide["y"]).max() > 0.1
    assert other_reading({"y": _by_lengths(7, 10)}, values, Far("values", "y")) == (Unspecified.FRACTIONAL_LENGTH,)


def test_an_answer_that_is_right_by_neither_stays_wrong() -> None:
    wrong = {"y": _by_lengths(7, 10) + np.float32(0.01)}
    assert other_reading(wrong, _resized("half_pixel"), Far("values", "y")) == ()


@pytest.mark.parametrize("way", ["asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel"])
def test_the_readings_are_one_where_the_length_is_whole(way: str) -> None:
    values = _resized(way, size=8)
    other = CaseValues(values.case)
    other.evaluate(otherwise=True)
    np.testing.assert_allclose(other.wide["y"], values.wide["y"], rtol=1e-12)


def test_a_way_that_names_the_length_has_one_reading() -> None:
    values = _resized("half_pixel_symmetric")
    other = CaseValues(values.case)
    other.evaluate(otherwise=True)
    np.testing.assert_array_equal(other.wide["y"], values.wide["y"])


def test_resize_of_opset_10_has_no_formula_and_two_readings() -> None:
    values = _resized("", opset=10)
    other = CaseValues(values.case)
    other.evaluate(otherwise=True)
    assert other.wide["y"].shape == values.wide["y"].shape == (1, 10)
    places = np.clip(np.arange(10) * 7 / 10, 0, 6)
    np.testing.assert_allclose(other.wide["y"][0], np.interp(places, np.arange(7), np.arange(7) ** 2), atol=1e-4)
    assert np.abs(other.wide["y"] - values.wide["y"]).max() > 0.1


def test_resize_of_opset_10_does_not_say_where_it_reads() -> None:
    values = _resized("", opset=10, scale=2.0)
    places = np.clip((np.arange(14) + 0.5) / 2 - 0.5, 0, 6)
    halves = np.interp(places, np.arange(7), np.arange(7) ** 2)[None].astype(np.float32)
    np.testing.assert_allclose(values.wide["y"][0], np.interp(np.arange(14) / 2, np.arange(7), np.arange(7) ** 2))
    assert other_reading({"y": halves}, values, Far("values", "y")) == (Unspecified.UPSAMPLED_PLACE,)
    assert other_reading({"y": halves + np.float32(0.01)}, values, Far("values", "y")) == ()


def test_what_is_far_by_the_tolerance_alone_is_not_right_by_a_reading_that_is_the_same() -> None:
    """The cheap look, which finds an answer near that the tolerance finds far, finds it near the other reading, too."""
    values = _resized("half_pixel", size=8)
    off = {"y": (values.wide["y"] * (1 + 6e-6)).astype(np.float32)}
    assert not compare(off, values).kind
    far = judge(off, values, Far(), Flow(name="onnxruntime", backend="onnxruntime"), seed=0)
    assert far.kind == "values"
    assert other_reading(off, values, far) == ()


def _plane(steering: Mapping[str, Sequence[float]], **stated: str) -> tuple[CaseValues, CaseValues]:
    """Five by seven numbers, squares along both axes, by both readings."""
    reads = [name if name in steering else "" for name in ("roi", "scales", "sizes")]
    while not reads[-1]:
        reads.pop()
    weights = [
        numpy_helper.from_array(np.asarray(numbers, np.int64 if name == "sizes" else np.float32), name)
        for name, numbers in steering.items()
    ]
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", *reads], ["y"], mode="linear", **stated)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["h", "w"])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)
    x = np.add.outer(np.arange(5) ** 2, np.arange(7) ** 2).astype(np.float32)
    case = GeneratedCase(model.SerializeToString(), {"x": x})
    values, other = CaseValues(case), CaseValues(case)
    values.evaluate()
    other.evaluate(otherwise=True)
    return values, other


def test_a_policy_that_keeps_the_aspect_ratio_has_two_readings() -> None:
    """7 columns become 10, so that 5 rows become 7.14, cut to 7: a scale of 10 / 7, or of 7 / 5."""
    values, other = _plane({"sizes": [10, 10]}, keep_aspect_ratio_policy="not_larger")
    assert values.wide["y"].shape == other.wide["y"].shape == (7, 10)
    due = np.add.outer(_by_lengths(5, 7)[0], _by_lengths(7, 10)[0])
    np.testing.assert_allclose(other.wide["y"], due, atol=1e-4)
    assert np.abs(other.wide["y"] - values.wide["y"]).max() > 0.1


@pytest.mark.parametrize(
    ("steering", "way"),
    [
        ({"sizes": [7, 10]}, "half_pixel"),
        ({"roi": [0.1, 0, 0.9, 1], "scales": [1.5, 1.5]}, "tf_crop_and_resize"),
        ({"roi": [0.1, 0, 0.9, 1], "sizes": [7, 10]}, "tf_crop_and_resize"),
    ],
)
def test_lengths_that_are_stated_and_a_rectangle_have_one_reading(
    steering: Mapping[str, Sequence[float]], way: str
) -> None:
    values, other = _plane(steering, coordinate_transformation_mode=way)
    np.testing.assert_allclose(other.wide["y"], values.wide["y"], rtol=1e-12)


@pytest.mark.parametrize(
    ("mode", "scale", "differ"), [("linear", 2.0, True), ("nearest", 1.2, True), ("nearest", 2.0, False)]
)
def test_upsample_does_not_say_where_it_reads(mode: str, scale: float, differ: bool) -> None:
    size = int(7 * scale)
    graph = helper.make_graph(
        [helper.make_node("Upsample", ["x", "s"], ["y"], mode=mode)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, size])],
        [numpy_helper.from_array(np.asarray([1.0, scale], np.float32), "s")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=8)
    squares = np.asarray([[place * place for place in range(7)]], np.float32)
    case = GeneratedCase(model.SerializeToString(), {"x": squares})
    values, other = CaseValues(case), CaseValues(case)
    values.evaluate()
    other.evaluate(otherwise=True)
    assert (np.abs(other.wide["y"] - values.wide["y"]).max() > 0.1) == differ
    if mode == "linear":
        np.testing.assert_allclose(values.wide["y"][0], np.interp(np.arange(size) / scale, np.arange(7), squares[0]))
        np.testing.assert_allclose(other.wide["y"], _by_lengths(7, size), rtol=1e-6)
        assert other_reading({"y": _by_lengths(7, size)}, values, Far("values", "y")) == (Unspecified.UPSAMPLED_PLACE,)


@pytest.mark.parametrize(
    ("operator", "opset", "last"), [("ArgMax", 11, 3), ("ArgMin", 7, 4), ("ArgMax", 12, 1), ("ArgMin", 13, 0)]
)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_before_opset_12_the_place_of_equal_extremes_is_not_said(
    operator: str, opset: int, last: int, keepdims: int
) -> None:
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], axis=-1, keepdims=keepdims)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 5])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [1, 1] if keepdims else [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    case = GeneratedCase(model.SerializeToString(), {"x": np.float32([[1, 3, 2, 3, 1]])})
    values, other = CaseValues(case), CaseValues(case)
    values.evaluate()
    other.evaluate(otherwise=True)
    assert values.wide["y"].reshape(-1).tolist() == [1 if operator == "ArgMax" else 0]
    assert other.wide["y"].shape == values.wide["y"].shape
    assert other.wide["y"].reshape(-1).tolist() == [last]
