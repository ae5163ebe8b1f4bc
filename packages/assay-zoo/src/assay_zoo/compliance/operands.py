"""Sizes and constants that an operator does not take, and that onnx's inference lets pass (1.23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

from assay_zoo.compliance.constants import Known
from assay_zoo.compliance.finding import Area, Finding
from assay_zoo.compliance.types import Shape, format_shape
from assay_zoo.compliance.walk import called, domain_of

if TYPE_CHECKING:
    from onnx import NodeProto

Problems = Iterator[str]
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def check_operands(known: Known) -> Iterator[Finding]:
    """Of one scope."""
    for index, node in enumerate(known.scope.graph.node):
        rule = _RULES.get(node.op_type) if not domain_of(node.domain) else None
        for problem in rule(node, known) if rule else ():
            yield Finding(Area.NODE, "operand", f"{called(node, index)}{known.scope.where} {problem}")


def _differ(one: object, other: object) -> bool:
    """Only numbers can: what is free may be anything."""
    return isinstance(one, int) and isinstance(other, int) and one != other


def _convolution(node: NodeProto, known: Known) -> Problems:
    data, weights = _shapes(node, known, 2)
    if data is None or weights is None or len(weights) < 2:
        return
    if len(data) != len(weights):
        yield f"has weights of shape {format_shape(weights)} for an input of shape {format_shape(data)}: not of one rank"
        return
    group = _attribute(node, "group", 1)
    transposed = node.op_type == "ConvTranspose"
    channels, most = (weights[0], weights[0]) if transposed else (_times(weights[1], group), weights[0])
    if _differ(data[1], channels):
        yield f"has weights of shape {format_shape(weights)} in {group} groups, and its input has {data[1]} channels"
    if isinstance(most, int) and group > 0 and most % group:
        yield f"has {group} groups, which do not divide the {most} channels of its weights"
    kernel = _attribute(node, "kernel_shape", [])
    if kernel and any(map(_differ, kernel, weights[2:])):
        yield f"says kernel_shape {format_shape(kernel)}, and its weights are of shape {format_shape(weights)}"


def _recurrent(node: NodeProto, known: Known) -> Problems:
    data, weights, recurrence = _shapes(node, known, 3)
    if data is not None and weights is not None and len(data) == len(weights) == 3 and _differ(data[2], weights[2]):
        yield f"has weights of shape {format_shape(weights)} for an input of shape {format_shape(data)}: their last sizes differ"
    if recurrence is None or len(recurrence) != 3:
        return
    hidden, gates = recurrence[2], _GATES[node.op_type]
    if _differ(recurrence[1], _times(hidden, gates)):
        yield f"has recurrence weights of shape {format_shape(recurrence)}, and {gates} gates of {hidden} values"
    if weights is not None and len(weights) == 3 and _differ(weights[1], recurrence[1]):
        yield f"has weights of shape {format_shape(weights)} and recurrence weights of shape {format_shape(recurrence)}"
    if _differ(hidden, _attribute(node, "hidden_size", hidden)):
        yield f"says hidden_size {_attribute(node, 'hidden_size', 0)}, and its weights have {hidden}"


def _reshape(node: NodeProto, known: Known) -> Problems:
    (shape,) = _shapes(node, known, 1)
    target = known.ints(node.input[1]) if len(node.input) > 1 else _attribute(node, "shape", None)
    if shape is None or target is None or not all(isinstance(size, int) for size in shape):
        return
    kept = not _attribute(node, "allowzero", 0)
    sizes = [shape[at] if kept and not size and at < len(shape) else size for at, size in enumerate(target)]
    count, wanted = (prod(int(size) for size in one) for one in (shape, [size for size in sizes if size != -1]))
    if count != wanted if -1 not in sizes else wanted and count % wanted:
        yield f"reshapes {format_shape(shape)}, {count} values, to {format_shape(target)}"


def _normalization(node: NodeProto, known: Known) -> Problems:
    variance = known.constants.get(node.input[4]) if len(node.input) > 4 else None
    if (
        variance is not None
        and variance.size
        and (least := float(variance.min())) + _attribute(node, "epsilon", 1e-5) < 0
    ):
        yield f"has a variance of {least:g}: its square root is NaN"


def _quantization(node: NodeProto, known: Known) -> Problems:
    scale = known.constants.get(node.input[1]) if len(node.input) > 1 else None
    if scale is not None and node.op_type == "QuantizeLinear" and (scale == 0).any():
        yield "has a scale of 0, by which it divides"
    data, scales = _shapes(node, known, 2)
    axis = _attribute(node, "axis", 1)
    if data is None or scales is None or len(scales) != 1 or scales[0] == 1 or _attribute(node, "block_size", 0):
        return
    if -len(data) <= axis < len(data) and _differ(data[axis], scales[0]):
        yield f"has {scales[0]} scales for axis {axis} of an input of shape {format_shape(data)}"


_RULES: dict[str, Callable[[NodeProto, Known], Problems]] = {
    "Conv": _convolution, "ConvTranspose": _convolution, "LSTM": _recurrent, "GRU": _recurrent, "RNN": _recurrent,
    "Reshape": _reshape, "BatchNormalization": _normalization, "QuantizeLinear": _quantization,
    "DequantizeLinear": _quantization,
}  # fmt: skip


def _shapes(node: NodeProto, known: Known, count: int) -> list[Shape | None]:
    names = [*node.input, *[""] * count][:count]
    return [known.shape(name) if name else None for name in names]


def _times(size: int | str, count: int) -> int | str:
    return size * count if isinstance(size, int) else size


def _attribute(node: NodeProto, name: str, default: Any) -> Any:
    from onnx.helper import get_attribute_value

    return next((get_attribute_value(one) for one in node.attribute if one.name == name), default)
