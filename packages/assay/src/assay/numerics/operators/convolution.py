"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.mutations import BIAS, KERNEL, LAYER, PICTURE, WINDOW
from assay.numerics.operators.record import Attribute, OnnxOperator, Sizes, alike
from assay.numerics.oracle.batched.channels import in_channels
from assay.numerics.oracle.batched.operator import Operator, in_batch
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, equal, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.shapes.windows import slide
from assay.numerics.tolerance.rules.sums import product

_BIAS = 2


def _convolution_rows(operator: Operator) -> Values | None:
    """Where only the bias differs between rows, it is added afterwards."""
    if not operator.only(0, _BIAS):
        return in_channels(operator, group=int(operator.attribute("group", 1)) * operator.count)
    bias = operator.inputs[_BIAS] if operator.is_rowed(_BIAS) else None
    without = replace(
        operator, call=replace(operator.call, inputs=operator.inputs[:_BIAS]), rowed=operator.rowed[:_BIAS]
    )
    rows = in_batch(operator if bias is None else without)
    if rows is None or bias is None:
        return rows
    (y,) = rows
    return (y + bias.reshape(operator.count, 1, -1, *[1] * (y.ndim - 3)),)


def _weight_place(node: Node) -> int:
    return 3 if node.op.startswith("QLinear") else 1


def _fit(bias: Value, channels: int | None) -> None:
    """Raises Conflict: engines read as many biases as there are channels, whatever there is."""
    if bias.shape is not None and len(bias.shape) == 1:
        equal(channels, bias.shape[0], ConstraintCode.BIAS_CHANNELS)


def convolution_shape(node: Node, inputs: Inputs, scope: Walk) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, _weight_place(node)).shape
    if shape is None or weight is None:
        return [UNKNOWN]
    last = node.attributes.get("channels_last") or node.op.startswith("Nhwc")
    channels, spatial = (shape[-1], shape[1:-1]) if last else (shape[1], shape[2:])
    equal(len(shape), len(weight), ConstraintCode.WEIGHT_RANKS)
    group_channels = None if weight[1] is None else weight[1] * node.attributes.get("group", 1)
    if channels is not None and group_channels is not None and channels != group_channels:
        raise Conflict(
            ConstraintCode.WEIGHT_TAKES_CHANNELS, (channels, group_channels), size=channels, wanted=group_channels
        )
    if node.op in ("Conv", "QLinearConv"):
        _fit(at(inputs, 2 if node.op == "Conv" else 8), weight[0])
    kernel = stated(node.attributes, "kernel_shape", list(weight[2:]))
    spatial_out = slide(node, spatial, kernel, scope, 0 if last else inputs[0].padded)
    return plain((shape[0], *spatial_out, weight[0]) if last else (shape[0], weight[0], *spatial_out))


def _transposed_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, 1).shape
    if shape is None or weight is None:
        return [UNKNOWN]
    if shape[1] is not None and weight[0] is not None and shape[1] != weight[0]:
        raise Conflict(ConstraintCode.WEIGHT_TAKES_CHANNELS, (shape[1], weight[0]), size=shape[1], wanted=weight[0])
    rank = len(shape) - 2
    attributes = node.attributes
    strides, dilations = stated(attributes, "strides", [1] * rank), stated(attributes, "dilations", [1] * rank)
    pads, more = stated(attributes, "pads", [0] * (2 * rank)), stated(attributes, "output_padding", [0] * rank)
    kernel = stated(attributes, "kernel_shape", list(weight[2:]))
    channels = None if weight[1] is None else weight[1] * attributes.get("group", 1)
    _fit(at(inputs, 2), channels)
    dims: list[int | None] = []
    for axis in range(rank):
        size = shape[axis + 2]
        if "output_shape" in attributes:
            dims.append(attributes["output_shape"][-rank:][axis])
        elif size is None or kernel[axis] is None:
            dims.append(None)
        elif attributes.get("auto_pad", "NOTSET").startswith("SAME"):
            dims.append(size * strides[axis])
        else:
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            dims.append(strides[axis] * (size - 1) + more[axis] + reach - pads[axis] - pads[axis + rank])
    return plain((shape[0], channels, *dims))


def _convolution_flops(inputs: Sequence[Sizes], output: Sizes, _: Attribute) -> float:
    return 2.0 * math.prod(output) * math.prod(inputs[1][1:])


def _transposed_flops(inputs: Sequence[Sizes], _: Sizes, __: Attribute) -> float:
    return 2.0 * math.prod(inputs[0]) * math.prod(inputs[1][1:])


def _second(place: int, rank: int, _: Attribute) -> int:
    return 1


def _first(place: int, rank: int, _: Attribute) -> int:
    return 0


def _convolution_terms(call: Call) -> float:
    return float(math.prod(call.inputs[1].shape[1:]))


def _transposed_terms(call: Call) -> float:
    shape = call.inputs[1].shape
    return float(shape[0] // (stated(call.attributes, "group", 1)) * math.prod(shape[2:]))


def _first_channels(place: int, _: Attribute) -> int:
    return 0


def _second_channels(place: int, _: Attribute) -> int:
    return 1


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Conv",
        rounding=product(_convolution_terms),
        weights=(1,),
        terms=_convolution_terms,
        contracted=_second,
        channels=_first_channels,
        bias=2,
        reference="convolution",
        fresh=True,
        batched=_convolution_rows,
        shape=convolution_shape,
        flops=_convolution_flops,
        mutations=LAYER | BIAS | KERNEL | WINDOW | PICTURE | {"drop-dilation"},
    ),
    *alike(
        "ConvTranspose",
        rounding=product(_transposed_terms),
        weights=(1,),
        terms=_transposed_terms,
        contracted=_first,
        channels=_second_channels,
        bias=2,
        reference="convolution",
        fresh=True,
        batched=_convolution_rows,
        shape=_transposed_shape,
        flops=_transposed_flops,
        mutations=LAYER | BIAS | KERNEL | WINDOW | PICTURE,
    ),
    *alike(
        "ConvInteger",
        moves=True,
        zero_points=(2, 3),
        reference="whole_products",
        shape=convolution_shape,
        mutations=WINDOW | {"zero-point-step"},
    ),
)
