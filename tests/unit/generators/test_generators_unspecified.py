"""Where the standard is silent: found in the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from assay.core.screening import Unspecified
from assay.generators.unspecified import unspecified


def _found(
    operator: str, reads: dict[str, Any], given: Any, opset: int = 22, **attributes: Any
) -> tuple[Unspecified, ...]:
    node = helper.make_node(operator, [*reads], ["y"], **attributes)
    model = helper.make_model(helper.make_graph([node], "g", [], []), opset_imports=[helper.make_opsetid("", opset)])
    return unspecified(model, {**reads, "y": given})


_TRANSPOSED = {"x": np.zeros((1, 1, 3)), "w": np.zeros((1, 1, 2))}
_KEYS = {"a": np.asarray([1.0, 1.0]), "k": np.int64([1])}


def _some_read_alpha(*numbers: float) -> dict[str, Any]:
    return {"activations": ["Sigmoid", "LeakyRelu", "Tanh"], "activation_alpha": [*numbers]}


def _int8(*numbers: int) -> Any:
    return np.asarray(numbers, np.int8)


@pytest.mark.parametrize(
    ("operator", "reads", "given", "attributes", "reason"),
    [
        ("Add", {"a": _int8(100), "b": _int8(100)}, _int8(-56), {}, Unspecified.INTEGER_OVERFLOW),
        ("Add", {"a": _int8(10), "b": _int8(100)}, _int8(110), {}, None),
        ("Div", {"a": _int8(10), "b": _int8(0)}, _int8(0), {}, Unspecified.DIVISION_BY_ZERO),
        # 0, 1 and 1/255 are the scale in three engines
        ("DynamicQuantizeLinear", {"a": np.asarray([-0.0, 0.0])}, np.uint8([0, 0]), {}, Unspecified.ZERO_SCALE),
        ("DynamicQuantizeLinear", {"a": np.asarray([0.0, 1.0])}, np.uint8([0, 255]), {}, None),
        ("Cast", {"a": np.asarray([300.0])}, np.uint8([44]), {"to": TensorProto.UINT8}, Unspecified.CAST_OUT_OF_RANGE),
        ("Cast", {"a": np.asarray([-0.5])}, np.uint8([0]), {"to": TensorProto.UINT8}, None),
        ("TopK", _KEYS, np.asarray([1.0]), {"sorted": 0}, Unspecified.EQUAL_KEYS),
        ("TopK", _KEYS, np.asarray([1.0]), {}, None),  # the lower index comes first
        ("RoiAlign", {"a": np.zeros((1, 1, 4, 4))}, np.zeros(1), {"mode": "max"}, Unspecified.SAMPLED_MAXIMUM),
        ("RoiAlign", {"a": np.zeros((1, 1, 4, 4))}, np.zeros(1), {"mode": "avg"}, None),
        (
            "MaxPool",
            {"a": np.zeros(1)},
            np.zeros(1),
            {"auto_pad": "SAME_UPPER", "dilations": [2]},
            Unspecified.DILATED_SAME,
        ),
        ("MaxPool", {"a": np.zeros(1)}, np.zeros(1), {"auto_pad": "SAME_UPPER", "dilations": [1]}, None),
        (
            "ConvTranspose",
            _TRANSPOSED,
            np.zeros(9),
            {"auto_pad": "SAME_UPPER", "strides": [3]},
            Unspecified.NEGATIVE_SAME,
        ),
        ("ConvTranspose", _TRANSPOSED, np.zeros(9), {"auto_pad": "SAME_LOWER", "strides": [3], "dilations": [2]}, None),
        ("ConvTranspose", _TRANSPOSED, np.zeros(8), {"strides": [3]}, None),
        ("DynamicQuantizeLinear", {"a": np.float32([-1.0, 254.0])}, np.uint8([0, 255]), {}, None),
        ("DynamicQuantizeLinear", {"a": np.float32([-0.5, 254.5])}, np.uint8([0, 255]), {}, Unspecified.ROUNDED_STEP),
        ("RNN", {"a": np.zeros(1)}, np.zeros(1), {"activations": ["Affine"]}, Unspecified.ACTIVATION_NUMBERS),
        ("RNN", {"a": np.zeros(1)}, np.zeros(1), {"activations": ["LeakyRelu"]}, None),
        ("LSTM", {"a": np.zeros(1)}, np.zeros(1), _some_read_alpha(0.5, 0.25), Unspecified.ACTIVATION_NUMBERS),
        ("LSTM", {"a": np.zeros(1)}, np.zeros(1), _some_read_alpha(0.5, 0.5), None),
        ("Erf", {"a": _int8(1)}, _int8(0), {}, Unspecified.REAL_RESULT),
        ("Erf", {"a": np.float32([1])}, np.float32([0.8]), {}, None),
        ("QuantizeLinear", {"a": np.float32([1.25]), "s": np.float32(0.5)}, _int8(2), {}, Unspecified.ROUNDED_STEP),
        ("QuantizeLinear", {"a": np.float32([1.3]), "s": np.float32(0.5)}, _int8(3), {}, None),
        # an axis that was left out, beyond those that there are
        ("QuantizeLinear", {"a": np.float32([1.3]), "s": np.float32([0.5])}, _int8(3), {"block_size": 1}, None),
        (
            "ScatterND",
            {"a": np.zeros(3), "i": np.int64([[1], [-2]]), "u": np.zeros(2)},
            np.zeros(3),
            {},
            Unspecified.REPEATED_INDICES,
        ),
        (
            "ScatterND",
            {"a": np.zeros(3), "i": np.int64([[1], [-2]]), "u": np.zeros(2)},
            np.zeros(3),
            {"reduction": "add"},
            None,
        ),
    ],
)
def test_what_the_standard_does_not_say(
    operator: str, reads: dict[str, Any], given: Any, attributes: dict[str, Any], reason: Unspecified | None
) -> None:
    assert _found(operator, reads, given, **attributes) == ((reason,) if reason else ())


def _labelled(*labels: int) -> dict[str, Any]:
    """Scores of three classes."""
    return {"x": np.zeros((len(labels), 3)), "t": np.int64(labels)}


_LOWER, _UPPER = np.float32(0.5), np.float32(-0.5)
_BLOCKED = {"a": np.float32([[1.3, 1.25, 1.3]]), "s": np.float32([[0.5, 0.25]])}


@pytest.mark.parametrize(
    ("operator", "reads", "given", "attributes", "opset", "reason"),
    [
        ("CastLike", {"a": np.asarray([300.0]), "b": np.uint8([0])}, np.uint8([44]), {}, 19, Unspecified.CAST_OUT_OF_RANGE),
        ("CastLike", {"a": np.asarray([200.5]), "b": np.uint8([0])}, np.uint8([200]), {}, 19, None),
        ("CastLike", {"a": np.asarray([300.0]), "b": np.asarray([0.0])}, np.asarray([300.0]), {}, 19, None),
        ("QuantizeLinear", _BLOCKED, _int8(3, 3, 5), {"axis": 1, "block_size": 2}, 21, Unspecified.ROUNDED_STEP),
        ("QuantizeLinear", {**_BLOCKED, "a": np.float32([[1.3, 1.3, 1.3]])}, _int8(3, 3, 5), {"axis": 1, "block_size": 2}, 21, None),
        ("Clip", {"a": np.zeros(1), "l": _LOWER, "u": _UPPER}, np.zeros(1), {}, 12, Unspecified.CROSSED_BOUNDS),
        ("Clip", {"a": np.zeros(1), "l": _LOWER, "u": _UPPER}, np.zeros(1), {}, 13, None),
        ("Clip", {"a": np.zeros(1), "l": _UPPER, "u": _LOWER}, np.zeros(1), {}, 12, None),
        ("Clip", {"a": np.zeros(1)}, np.zeros(1), {"min": 1.0, "max": 0.0}, 6, Unspecified.CROSSED_BOUNDS),
        ("Clip", {"a": np.zeros(1)}, np.zeros(1), {"min": 1.0}, 6, None),
        ("ArgMax", {"a": np.float32([[1, 3, 3]])}, np.int64([[1]]), {"axis": -1}, 11, Unspecified.EQUAL_EXTREMES),
        ("ArgMax", {"a": np.float32([[1, 3, 3]])}, np.int64([[1]]), {"axis": -1}, 12, None),
        ("ArgMax", {"a": np.float32([[1, 3, 3]])}, np.int64([[0, 0, 0]]), {}, 11, None),
        ("ArgMin", {"a": np.float32([[1, 3, 3]])}, np.int64([[0]]), {"axis": 1}, 11, None),
        ("ArgMin", {"a": np.float32([[1, 1, 3]])}, np.int64([[0]]), {"axis": 1}, 7, Unspecified.EQUAL_EXTREMES),
        ("SoftmaxCrossEntropyLoss", _labelled(0, -1), np.zeros(()), {}, 13, Unspecified.LABEL_OUTSIDE),
        ("SoftmaxCrossEntropyLoss", _labelled(0, -1), np.zeros(()), {"ignore_index": -1}, 13, None),
        ("SoftmaxCrossEntropyLoss", _labelled(3, -1), np.zeros(()), {"ignore_index": -1}, 13, Unspecified.LABEL_OUTSIDE),
        ("NegativeLogLikelihoodLoss", _labelled(0, 3), np.zeros(()), {}, 13, Unspecified.LABEL_OUTSIDE),
        ("NegativeLogLikelihoodLoss", _labelled(0, 2), np.zeros(()), {}, 13, None),
        ("GRU", {"x": np.zeros((0, 1, 2))}, np.zeros((0, 1, 1, 3)), {}, 14, Unspecified.NO_STEPS),
        ("GRU", {"x": np.zeros((1, 0, 2))}, np.zeros((1, 1, 0, 3)), {}, 14, None),
        ("LSTM", {"x": np.zeros((1, 0, 2))}, np.zeros((1, 0, 1, 3)), {"layout": 1}, 14, Unspecified.NO_STEPS),
        ("RNN", {"x": np.zeros((2, 2, 1)), "w": 0, "r": 0, "b": 0, "l": np.int32([2, 0])}, np.zeros(1), {}, 14, Unspecified.NO_STEPS),
        ("RNN", {"x": np.zeros((2, 2, 1)), "w": 0, "r": 0, "b": 0, "l": np.int32([2, 1])}, np.zeros(1), {}, 14, None),
        ("Pow", {"a": np.int32([2]), "b": np.int32([-1])}, np.int32([0]), {}, 13, Unspecified.REAL_RESULT),
        ("Pow", {"a": np.int32([-1, 2]), "b": np.int32([-3, 3])}, np.int32([-1, 8]), {}, 13, None),
        ("Pow", {"a": np.int32([2]), "b": np.asarray([0.5])}, np.int32([1]), {}, 13, Unspecified.REAL_RESULT),
        ("Pow", {"a": np.asarray([2.0]), "b": np.asarray([-0.5])}, np.asarray([0.7]), {}, 13, None),
        ("Mod", {"a": np.int32([-7]), "b": np.int32([3])}, np.int32([-1]), {"fmod": 1}, 13, Unspecified.REMAINDER_SIGN),
        ("Mod", {"a": np.int32([7]), "b": np.int32([3])}, np.int32([1]), {"fmod": 1}, 13, None),
        ("Mod", {"a": np.int32([-7]), "b": np.int32([3])}, np.int32([2]), {}, 13, None),
        ("Mod", {"a": np.asarray([-7.0]), "b": np.asarray([3.0])}, np.asarray([-1.0]), {"fmod": 1}, 13, None),
        ("Upsample", {"a": np.zeros(2), "s": np.float32([2])}, np.zeros(4), {"mode": "linear"}, 9, Unspecified.UPSAMPLED_PLACE),
        ("Upsample", {"a": np.zeros(2), "s": np.float32([1])}, np.zeros(2), {"mode": "linear"}, 9, None),
        ("Upsample", {"a": np.zeros(2)}, np.zeros(3), {"scales": [1.5]}, 7, Unspecified.UPSAMPLED_PLACE),
        ("Upsample", {"a": np.zeros(2)}, np.zeros(4), {"scales": [2.0]}, 7, None),
    ],
)  # fmt: skip
def test_forms_of_which_the_text_says_less_than_all(
    operator: str, reads: dict[str, Any], given: Any, attributes: dict[str, Any], opset: int, reason: Unspecified | None
) -> None:
    assert _found(operator, reads, given, opset, **attributes) == ((reason,) if reason else ())


def test_of_computed_keys_equal_ones_may_differ_in_the_type_of_the_model() -> None:
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("TopK", ["a", "k"], ["y", "i"])]
    model = helper.make_model(helper.make_graph(nodes, "g", [], []))
    assert unspecified(model, {**_KEYS, "x": -_KEYS["a"], "y": np.asarray([1.0])}) == (Unspecified.EQUAL_KEYS,)


@pytest.mark.parametrize(
    ("x", "y", "attributes", "reason"),
    [
        ([1.0, 1.0, 0.0, 2.0], [1.0, 2.0], {"kernel_shape": [2], "strides": [2]}, True),
        ([1.0, 0.0, 0.0, 1.0], [1.0, 1.0], {"kernel_shape": [2], "strides": [2]}, False),
        ([1.0, 0.0, 1.0, 0.0], [1.0, 0.0], {"kernel_shape": [2], "dilations": [2]}, True),
        ([0.0, -1.0], [0.0, 0.0], {"kernel_shape": [2], "pads": [1, 0]}, False),  # what is padded is no element
        ([0.0, 1.0, 1.0], [0.0, 1.0], {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_LOWER"}, True),
        ([0.0, 1.0, 1.0], [1.0, 1.0], {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_UPPER"}, False),
    ],
)
def test_of_equal_maxima_a_place_is_not_said(
    x: list[float], y: list[float], attributes: dict[str, Any], reason: bool
) -> None:
    def found(places: bool) -> tuple[Unspecified, ...]:
        node = helper.make_node("MaxPool", ["x"], ["y", "i"], **attributes)
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "i")[: 1 + places]]
        model = helper.make_model(helper.make_graph([node], "g", [], ends))
        fed, given = np.float32(x).reshape(1, 1, -1), np.float32(y).reshape(1, 1, -1)
        return unspecified(model, {"x": fed, "y": given, "i": given})

    assert found(places=True) == ((Unspecified.EQUAL_MAXIMA,) if reason else ())
    assert found(places=False) == ()


@pytest.mark.parametrize(
    ("pads", "axes", "mode", "reason"),
    [
        ([0, 0, 1, 2], None, "reflect", False),
        ([0, 0, 2, 0], None, "reflect", True),
        ([0, 3, 0, 0], None, "reflect", True),
        ([0, 3, 0, 0], None, "edge", False),
        ([1, 2], [1], "reflect", False),
        ([0, 2], [-2], "reflect", True),
        ([0, -1, 0, 2], None, "reflect", True),  # a crop leaves two elements
        ([0, 1, 0, -1], None, "reflect", False),
    ],
)
def test_a_reflection_beyond_the_axis_is_not_said(
    pads: list[int], axes: list[int] | None, mode: str, reason: bool
) -> None:
    node = helper.make_node("Pad", ["x", "pads", "", *(["axes"] if axes else [])], ["y"], mode=mode)
    model = helper.make_model(helper.make_graph([node], "g", [], []))
    values = {"x": np.zeros((2, 3), np.float32), "y": np.zeros((2, 3), np.float32), "pads": np.asarray(pads)}
    reasons = unspecified(model, values | ({"axes": np.asarray(axes)} if axes else {}))
    assert reasons == ((Unspecified.REFLECTED_TWICE,) if reason else ())


def test_of_scores_before_the_softcap_text_and_body_differ() -> None:
    def found(**attributes: Any) -> tuple[Unspecified, ...]:
        node = helper.make_node("Attention", ["q", "k", "v"], ["y", "", "", "s"], **attributes)
        model = helper.make_model(helper.make_graph([node], "g", [], []))
        return unspecified(model, {"q": np.zeros(1), "y": np.zeros(1)})

    assert found(softcap=2.0) == (Unspecified.BODY_DIFFERS,)
    assert found(softcap=2.0, qk_matmul_output_mode=1) == found() == ()
