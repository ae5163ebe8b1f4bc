"""Quantized values: scale, zero point, and integer arithmetic that is exact."""

from __future__ import annotations

from typing import Any

import torch

from assay.onnx_to_torch.dtypes import onnx_dtype
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.operators.casts import converted
from assay.onnx_to_torch.operators.convolution import conv
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("QuantizeLinear")
def quantize_linear(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    """Rounded half to even, then saturated."""
    kind = zero.dtype if zero is not None else onnx_dtype(node.get("output_dtype", 0) or 2)
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    wide = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) or not x.is_floating_point() else x
    steps = wide / _along(scale, x, axis, block).to(wide.dtype)
    if kind.is_floating_point:
        return converted(steps, kind, saturate=bool(node.get("saturate", 1)))
    shift = 0 if zero is None else _along(zero, x, axis, block).to(torch.float32)
    limits = torch.iinfo(kind)
    return torch.clamp(torch.round(steps) + shift, limits.min, limits.max).to(kind)


@operator("DequantizeLinear")
def dequantize_linear(node: Node, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    kind = onnx_dtype(node.get("output_dtype")) if node.get("output_dtype", 0) else scale.dtype
    wide = x.to(torch.float32) if x.dtype.is_floating_point else x.to(torch.int32)
    if zero is not None:
        wide = wide - _along(zero, x, axis, block).to(wide.dtype)
    return (wide.to(torch.float32) * _along(scale, x, axis, block).to(torch.float32)).to(kind)


def _along(values: Tensor, x: Tensor, axis: int, block: int) -> Tensor:
    """Per tensor, per axis, or per block along the axis, broadcast against `x`."""
    if values.numel() == 1 and values.ndim <= 1:
        return values.reshape(())
    axis = axis % x.ndim
    if values.ndim == 1 and block == 0:
        return values.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    size = block or -(-x.shape[axis] // values.shape[axis])
    return torch.repeat_interleave(values, size, axis).narrow(axis, 0, x.shape[axis])


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node, x: Tensor) -> Any:
    """uint8 over the range of the data, zero included."""
    low = torch.clamp(torch.amin(x), max=0)
    high = torch.clamp(torch.amax(x), min=0)
    scale = (high - low) / 255
    zero = torch.clamp(torch.round(-low / scale), 0, 255)
    zero = torch.where(scale == 0, torch.zeros_like(zero), zero)
    y = torch.clamp(torch.round(x / scale) + zero, 0, 255)
    return y.to(torch.uint8), scale, zero.to(torch.uint8)


@operator("QLinearConv")
def qlinear_conv(
    node: Node,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    weight: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """Accumulated exactly in float64, requantized once."""
    shape = [-1, *[1] * (weight.ndim - 1)]
    kernel = weight.to(torch.float64) - (w_zero.reshape(shape) if w_zero.numel() > 1 else w_zero).to(torch.float64)
    total = conv(node, x.to(torch.float64) - x_zero.to(torch.float64), kernel, None)
    channel = [1, -1, *[1] * (weight.ndim - 2)]
    if bias is not None:
        total = total + bias.to(torch.float64).reshape(channel)
    scale = w_scale.reshape(channel) if w_scale.numel() > 1 else w_scale
    factor = x_scale.to(torch.float64) * scale.to(torch.float64) / y_scale.to(torch.float64)
    return _requantized(total * factor, y_zero)


@operator("QLinearMatMul")
def qlinear_matmul(
    node: Node,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
) -> Tensor:
    """Accumulated exactly in float64. Scales of `a` may be per row, those of `b` per column."""
    rows = [tensor.unsqueeze(-1) if tensor.ndim == 1 and tensor.numel() > 1 else tensor for tensor in (a_scale, a_zero)]
    left = a.to(torch.float64) - rows[1].to(torch.float64)
    right = b.to(torch.float64) - b_zero.to(torch.float64)
    factor = rows[0].to(torch.float64) * b_scale.to(torch.float64) / y_scale.to(torch.float64)
    return _requantized(torch.matmul(left, right) * factor, y_zero)


def _requantized(steps: Tensor, zero: Tensor) -> Tensor:
    if zero.dtype.is_floating_point:
        return converted(steps.to(torch.float32), zero.dtype)
    limits = torch.iinfo(zero.dtype)
    return torch.clamp(torch.round(steps) + zero.to(torch.float64), limits.min, limits.max).to(zero.dtype)
