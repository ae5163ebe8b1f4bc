"""Forms of which the text says nothing, or less than all: found in the values of a node, and in the opset that it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from onnx import helper

from assay.core.screening import Unspecified
from assay.ports import Tensor


def silent_form(node: Any, values: Mapping[str, Tensor], opset: int) -> Iterator[Unspecified]:
    """`values` of all names, as `unspecified` takes them."""
    match node.op_type:
        case "Clip" if opset < 13 and _is_crossed(node, values):
            yield Unspecified.CROSSED_BOUNDS
        case "ArgMax" | "ArgMin" if opset < 12 and _has_equal_extremes(node, values):
            yield Unspecified.EQUAL_EXTREMES
        case "Upsample" if _has_many_places(node, values):
            yield Unspecified.UPSAMPLED_PLACE
        case "Mod" if _signs_decide(node, values):
            yield Unspecified.REMAINDER_SIGN
        case "Pow" if _is_between_wholes(node, values):
            yield Unspecified.REAL_RESULT
        case "NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss" if _is_label_outside(node, values):
            yield Unspecified.LABEL_OUTSIDE
        case "RNN" | "GRU" | "LSTM" if _has_no_steps(node, values):
            yield Unspecified.NO_STEPS
        case "DynamicQuantizeLinear" if (x := _read(node, values, 0)) is not None and not x.any():
            yield Unspecified.ZERO_SCALE


def _attributes(node: Any) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def _read(node: Any, values: Mapping[str, Tensor], place: int) -> Tensor | None:
    return values.get(node.input[place]) if place < len(node.input) else None


def _has_no_steps(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Of the whole, or of one sequence of it: the last state is that before the first step, or none."""
    x, lengths = _read(node, values, 0), _read(node, values, 4)
    steps = [] if x is None else [x.shape[1 if _attributes(node).get("layout") else 0]]
    return 0 in steps or (lengths is not None and bool((lengths == 0).any()))


def _is_crossed(node: Any, values: Mapping[str, Tensor]) -> bool:
    attributes = _attributes(node)
    least, most = (attributes.get(name, _read(node, values, place)) for place, name in ((1, "min"), (2, "max")))
    return least is not None and most is not None and bool(np.any(np.asarray(least) > np.asarray(most)))


def _has_many_places(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether corners, middles and equal steps lead to different elements: by `nearest` a whole scale repeats each element."""
    attributes = _attributes(node)
    scales = np.asarray(attributes.get("scales", _read(node, values, 1)), np.float64)
    return bool(
        (scales != 1.0).any() if attributes.get("mode", b"nearest") != b"nearest" else (scales % 1.0 != 0.0).any()
    )


def _signs_decide(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Of whole numbers, whether the remainder has another sign as in C than as in Python."""
    first, second = _read(node, values, 0), _read(node, values, 1)
    if first is None or second is None or first.dtype.kind not in "iu" or not _attributes(node).get("fmod", 0):
        return False
    divisor = np.where(second == 0, second + 1, second)
    return bool((np.fmod(first, divisor) != np.mod(first, divisor)).any())


def _is_between_wholes(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether a power of a whole number is none: of a negative exponent, or of one that is not whole."""
    base, exponent = _read(node, values, 0), _read(node, values, 1)
    if base is None or exponent is None or base.dtype.kind not in "iu":
        return False
    return bool(((exponent < 0) & (np.abs(base.astype(np.float64)) != 1.0) | (exponent % 1 != 0)).any())


def _has_equal_extremes(node: Any, values: Mapping[str, Tensor]) -> bool:
    x = _read(node, values, 0)
    if x is None or not x.ndim or not x.size:
        return False
    axis = _attributes(node).get("axis", 0)
    extreme = (np.max if node.op_type == "ArgMax" else np.min)(x, axis=axis, keepdims=True)
    return bool(((x == extreme).sum(axis=axis) > 1).any())


def _is_label_outside(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether a label is neither a class nor the one that is ignored."""
    scores, labels = _read(node, values, 0), _read(node, values, 1)
    if scores is None or labels is None or scores.ndim < 2:
        return False
    outside = (labels < 0) | (labels >= scores.shape[1])
    ignored = _attributes(node).get("ignore_index")
    return bool((outside if ignored is None else outside & (labels != ignored)).any())
