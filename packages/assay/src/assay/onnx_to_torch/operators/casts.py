"""From one element type to another."""

from __future__ import annotations

import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Unsupported
from assay.onnx_to_torch.dtypes import onnx_dtype
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor

_LARGEST = {
    torch.float8_e4m3fn: 448.0,
    torch.float8_e4m3fnuz: 240.0,
    torch.float8_e5m2: 57344.0,
    torch.float8_e5m2fnuz: 57344.0,
}


@operator("Cast")
def cast(node: Node, x: Tensor) -> Tensor:
    return converted(x, onnx_dtype(node.get("to")), saturate=bool(node.get("saturate", 1)))


@operator("CastLike")
def cast_like(node: Node, x: Tensor, like: Tensor) -> Tensor:
    return converted(x, like.dtype, saturate=bool(node.get("saturate", 1)))


def converted(x: Tensor, dtype: torch.dtype, *, saturate: bool = True) -> Tensor:
    """float8 saturates at its largest value, infinities too; without `saturate` they become NaN or infinity."""
    if x.dtype == dtype:
        return x
    if dtype == torch.float8_e8m0fnu:
        raise Unsupported(noted(ConversionCode.ROUNDS_OTHERWISE))
    if dtype in _LARGEST:
        wide = x.to(torch.float32) if x.dtype != torch.float64 else x
        if saturate:
            limit = _LARGEST[dtype]
            return torch.clamp(wide, -limit, limit).to(dtype)
        return _unsaturated(wide, dtype)
    if x.dtype in (*_LARGEST, torch.float8_e8m0fnu) and not dtype.is_floating_point:
        x = x.to(torch.float32)
    return x.to(dtype)


def _unsaturated(wide: Tensor, dtype: torch.dtype) -> Tensor:
    """What does not fit after rounding is NaN, or infinity in float8_e5m2, which has one."""
    limit = _LARGEST[dtype]
    rounded = wide.to(dtype)
    step = {torch.float8_e4m3fn: 16.0, torch.float8_e4m3fnuz: 8.0}.get(dtype, 4096.0)
    outside = torch.abs(wide) >= limit + step
    if dtype == torch.float8_e5m2:
        over = torch.copysign(torch.full_like(wide, float("inf")), wide)
        return torch.where(outside, over, rounded.to(wide.dtype)).to(dtype)
    return torch.where(outside, torch.full_like(wide, float("nan")), rounded.to(wide.dtype)).to(dtype)


@operator("BitCast")
def bit_cast(node: Node, x: Tensor) -> Tensor:
    return x.view(onnx_dtype(node.get("to")))
