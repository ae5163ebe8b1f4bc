"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.microsoft_normalization import layer_normalization, simplified
from assay.numerics.operators.mutations import BIAS, EPSILON
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.channels import in_channels
from assay.numerics.oracle.batched.operator import Operator, along_axis, behind, in_batch
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.kernels.terms import summed
from assay.numerics.shapes.constraints import Inputs, Walk, at, broadcast, equal
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.functions import batch_normalization, response
from assay.ports import Tensor


def standardized(call: Call, x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """((x - mean) / sqrt(variance + epsilon), mean, 1 / sqrt(variance + epsilon)) over `axes`."""
    mean = x.mean(axis=axes, keepdims=True)
    mean = call.mark("mean", mean, squares=lambda: np.mean(x * x, axis=axes, keepdims=True), **summed(x, *axes))
    centred = x - mean
    variance = np.mean(centred * centred, axis=axes, keepdims=True)
    variance = call.mark("positive_sum", variance, **summed(centred, *axes, power=2))
    inverse = call.mark("inner", 1 / np.sqrt(variance + x.dtype.type(epsilon)))
    return call.mark("standardized", centred * inverse, mean=mean, inverse=inverse), mean, inverse


def _affine(call: Call, x: Tensor, scale: Tensor | None, bias: Tensor | None) -> Tensor:
    if scale is None:
        return call.mark("output", x)
    product = x * scale
    if bias is None:
        return call.mark("output", product)
    return call.mark("affine", product + bias, product=product)


def _layer_kernel(call: Call) -> Values | None:
    x, scale, bias = (call.input(position) for position in range(3))
    if not x.size:
        return None
    axis = call.attributes.get("axis", -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    normal, mean, inverse = standardized(call, x, axes, _number(call, "epsilon", 1e-5))
    return (_affine(call, normal, scale, bias), mean, inverse)[: max(1, len(call.outputs))]


def _rms(call: Call) -> Values | None:
    x, scale = call.input(0), call.input(1)
    if not x.size:
        return None
    axes = tuple(range(call.attributes.get("axis", -1) % x.ndim, x.ndim))
    mean_square = call.mark("positive_sum", np.mean(x * x, axis=axes, keepdims=True), **summed(x, *axes, power=2))
    inverse = call.mark("inner", 1 / np.sqrt(mean_square + x.dtype.type(_number(call, "epsilon", 1e-5))))
    return (_affine(call, call.mark("inner", x * inverse), scale, None),)


def _per_channel(parameter: Tensor, rank: int) -> Tensor:
    return parameter.reshape(1, -1, *[1] * (rank - 2))


def _instance(call: Call) -> Values | None:
    x, scale, bias = call.inputs[:3]
    if x.ndim < 3:
        return None
    normal, _, _ = standardized(call, x, tuple(range(2, x.ndim)), _number(call, "epsilon", 1e-5))
    return (_affine(call, normal, _per_channel(scale, x.ndim), _per_channel(bias, x.ndim)),)


def _group(call: Call) -> Values | None:
    x, scale, bias = call.inputs[:3]
    groups = call.attributes["num_groups"]
    split = x.reshape(x.shape[0], groups, -1)
    normal, _, _ = standardized(call, split, (2,), _number(call, "epsilon", 1e-5))
    if scale.shape[0] != x.shape[1]:  # until opset 20 there is one scale for each group
        scale, bias = (np.repeat(parameter, x.shape[1] // groups) for parameter in (scale, bias))
    return (_affine(call, normal.reshape(x.shape), _per_channel(scale, x.ndim), _per_channel(bias, x.ndim)),)


def _mean_variance(call: Call) -> Values | None:
    x = call.inputs[0]
    axes = tuple(axis % x.ndim for axis in stated(call.attributes, "axes", (0, 2, 3)))
    # The standard adds 1e-9 to the deviation, not to the variance.
    normal, _, inverse = standardized(call, x, axes, 0.0)
    with np.errstate(invalid="ignore"):
        return (call.mark("output", normal / (1 + x.dtype.type(1e-9) * inverse)),)


def _lp(call: Call) -> Values | None:
    x = call.inputs[0]
    if call.attributes.get("p", 2) not in (1, 2):
        return None
    axis = call.attributes.get("axis", -1)
    if call.attributes.get("p", 2) == 1:
        norm = call.mark("positive_sum", np.abs(x).sum(axis=axis, keepdims=True), **summed(np.abs(x), axis))
    else:
        norm = np.sqrt(call.mark("positive_sum", (x * x).sum(axis=axis, keepdims=True), **summed(x, axis, power=2)))
    # Where the norm is zero so is every element, and the result is defined as zero (opset 22).
    return (call.mark("output", x / np.where(norm == 0, x.dtype.type(1), norm)),)


def _number(call: Call, name: str, default: float) -> float:
    value: Any = call.attributes.get(name)
    return default if value is None else float(value)


def _batch_rows(operator: Operator) -> Values | None:
    return None if operator.attribute("training_mode") else in_channels(operator)


def _layer_rows(operator: Operator) -> Values | None:
    return operator.run(*operator.aligned(), axis=behind(int(operator.attribute("axis", -1))))


def _channels_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, scale = inputs[0].shape, at(inputs, 1).shape
    if shape is not None and len(shape) > 1 and scale:
        equal(shape[1], scale[0], ConstraintCode.SCALE_CHANNELS)
    if shape is not None and len(shape) > 1 and node.attributes.get("spatial", 1):
        for value in inputs[2:]:
            if value.shape is not None and len(value.shape) == 1:
                equal(shape[1], value.shape[0], ConstraintCode.CHANNEL_NUMBERS)
    return [Value(shape), *(Value(scale) for _ in node.outputs[1:])]


def layer_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, scale = inputs[0].shape, at(inputs, 1).shape
    if shape is not None and scale:
        broadcast((shape, scale))
    return [Value(shape), *(UNKNOWN for _ in node.outputs[1:])]


def _variance_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 4, Need(0.0, inf)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "BatchNormalization",
        rounding=batch_normalization,
        weights=(1,),
        bias=2,
        reference="old_opsets",
        batched=_batch_rows,
        shape=_channels_shape,
        ranges=_variance_ranges,
        mutations=BIAS | EPSILON | {"wrong-variance", "neighbour-mean", "drop-norm-scale", "norm-to-zeros"},
    ),
    *alike(
        "InstanceNormalization",
        bias=2,
        kernel=_instance,
        batched=in_channels,
        shape=_channels_shape,
        mutations=BIAS | EPSILON | {"drop-norm-scale", "unbiased-variance", "norm-to-zeros"},
    ),
    *alike(
        "LayerNormalization",
        decomposition=layer_normalization,
        bias=2,
        kernel=_layer_kernel,
        batched=_layer_rows,
        shape=layer_shape,
        mutations=BIAS | EPSILON | {"drop-norm-scale", "unbiased-variance", "norm-to-zeros"},
    ),
    *alike(
        "RMSNormalization",
        kernel=_rms,
        batched=_layer_rows,
        shape=layer_shape,
        mutations=EPSILON | {"drop-norm-scale", "norm-to-zeros"},
    ),
    *alike(
        "GroupNormalization",
        bias=2,
        kernel=_group,
        shape=same_shape,
        mutations=BIAS | EPSILON | {"drop-norm-scale", "norm-to-zeros"},
    ),
    *alike(
        "MeanVarianceNormalization",
        reference="reducing",
        kernel=_mean_variance,
        shape=same_shape,
        mutations={"norm-to-zeros"},
    ),
    *alike("LpNormalization", kernel=_lp, batched=along_axis(-1), shape=same_shape, mutations={"norm-to-zeros"}),
    *alike("LRN", rounding=response, reference="region_ops", batched=in_batch, shape=same_shape),
    *alike(
        "SimplifiedLayerNormalization",
        decomposition=simplified,
        shape=layer_shape,
        mutations=EPSILON | {"drop-norm-scale", "norm-to-zeros"},
    ),
)
