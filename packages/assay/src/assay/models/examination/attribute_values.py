"""Values of attributes that their operator does not take: words and sizes. onnx's own checks take any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.models.examination.quoting import shown
from assay.models.examination.walk import domain_of

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto

_WINDOWED = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "ConvInteger", "QLinearConv")
_SCATTER, _LOSS = ("none", "add", "mul", "max", "min"), ("none", "sum", "mean")
_TURNS = ("forward", "reverse", "bidirectional")
_WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("LSTM", "direction"): _TURNS, ("GRU", "direction"): _TURNS, ("RNN", "direction"): _TURNS,
    ("BitShift", "direction"): ("LEFT", "RIGHT"), ("Pad", "mode"): ("constant", "reflect", "edge", "wrap"),
    ("Resize", "mode"): ("nearest", "linear", "cubic"), ("DepthToSpace", "mode"): ("DCR", "CRD"),
    ("RoiAlign", "mode"): ("avg", "max"), ("ScatterElements", "reduction"): _SCATTER,
    ("Resize", "coordinate_transformation_mode"): (
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
        "tf_half_pixel_for_nn",
    ),
    ("Resize", "nearest_mode"): ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"),
    ("GridSample", "padding_mode"): ("zeros", "border", "reflection"),
    ("ScatterND", "reduction"): _SCATTER, ("SoftmaxCrossEntropyLoss", "reduction"): _LOSS,
    ("NegativeLogLikelihoodLoss", "reduction"): _LOSS, ("Gelu", "approximate"): ("none", "tanh"),
    **{(operator, "auto_pad"): ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID") for operator in _WINDOWED},
}  # fmt: skip
"""From the pages of the operators, the newest that each has."""
_SIZES = {(operator, "group") for operator in _WINDOWED}
_SIZES |= {("LRN", "size"), ("RoiAlign", "output_height"), ("RoiAlign", "output_width")}
"""Strides, dilations, kernels and blocks below 1 are found by onnx's own inference."""


def value_problem(node: NodeProto, attribute: AttributeProto) -> Iterator[tuple[str, tuple[int | str, ...]]]:
    """The code and the values of each finding on the attribute; none where nothing is known of it."""
    if domain_of(node.domain) or attribute.ref_attr_name:
        return
    key = node.op_type, attribute.name
    word = attribute.s.decode(errors="replace")
    if key in _WORDS and attribute.HasField("s") and word not in _WORDS[key]:
        yield "attribute-word", (shown(word), ", ".join(_WORDS[key]))
    if key in _SIZES and attribute.HasField("i") and attribute.i < 1:
        yield "attribute-size", (attribute.i,)
