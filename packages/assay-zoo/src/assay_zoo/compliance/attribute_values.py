"""Values of attributes that their operator does not take: words, sizes, element types. onnx's own checks take any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay_zoo.compliance.element import element_name
from assay_zoo.compliance.finding import shown
from assay_zoo.compliance.walk import domain_of

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto

_WINDOWED = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool")
_SCATTER, _LOSS = ("none", "add", "mul", "max", "min"), ("none", "sum", "mean")
_TURNS = ("forward", "reverse", "bidirectional")
_WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("LSTM", "direction"): _TURNS, ("GRU", "direction"): _TURNS, ("RNN", "direction"): _TURNS,
    ("BitShift", "direction"): ("LEFT", "RIGHT"), ("Pad", "mode"): ("constant", "reflect", "edge", "wrap"),
    ("Resize", "mode"): ("nearest", "linear", "cubic"), ("DepthToSpace", "mode"): ("DCR", "CRD"),
    ("RoiAlign", "mode"): ("avg", "max"), ("ScatterElements", "reduction"): _SCATTER,
    ("ScatterND", "reduction"): _SCATTER, ("SoftmaxCrossEntropyLoss", "reduction"): _LOSS,
    ("NegativeLogLikelihoodLoss", "reduction"): _LOSS, ("Gelu", "approximate"): ("none", "tanh"),
    **{(operator, "auto_pad"): ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID") for operator in _WINDOWED},
}  # fmt: skip
"""From the pages of the operators, the newest that each has."""
_SIZES = {(operator, name) for operator in _WINDOWED for name in ("strides", "dilations", "kernel_shape", "group")}
_SIZES |= {("DepthToSpace", "blocksize"), ("SpaceToDepth", "blocksize")}
_TYPES = {("Cast", "to")} | {(one, "dtype") for one in ("EyeLike", "RandomNormal", "RandomUniform", "Multinomial")}


def value_problem(node: NodeProto, attribute: AttributeProto) -> str:
    """The predicate of a sentence about the attribute; "" where nothing is wrong, or nothing is known of it."""
    return next(_problems(node, attribute), "")


def _problems(node: NodeProto, attribute: AttributeProto) -> Iterator[str]:
    if domain_of(node.domain) or attribute.ref_attr_name:
        return
    key = node.op_type, attribute.name
    word = attribute.s.decode(errors="replace")
    if key in _WORDS and word not in _WORDS[key]:
        yield f"is {shown(word)}, and the operator takes {', '.join(_WORDS[key])}"
    numbers = list(attribute.ints) or [attribute.i]
    if key in _SIZES and min(numbers) < 1:
        yield f"is {min(numbers)}, and the operator takes 1 and more"
    if key in _TYPES and not element_name(attribute.i):
        yield f"is {attribute.i}, and there is no such element type"
