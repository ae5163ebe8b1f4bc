"""Steps onto an integer grid and back, the value before the rounding marked (ONNX QuantizeLinear-23, DynamicQuantizeLinear-11).

Products of quantized tensors are taken apart into dequantize, product and quantize, which is their definition.
"""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.numerics.attributes import stated
from assay.numerics.operators.convolution import convolution_shape
from assay.numerics.operators.matrix_products import product_shape
from assay.numerics.operators.mutations import BIAS, SCALES, WINDOW
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, along_axis
from assay.numerics.oracle.chunked import in_chunks
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.tie_rules import off_ties
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.tolerance.rules.rounding_rules import dequantized
from assay.ports import Tensor

_WHOLE = ("int8", "uint8", "int16", "uint16")


def on_grid(call: Call, steps: Tensor, zero_point: Tensor | float, dtype: np.dtype[Any]) -> Tensor:
    """Rounded half to even (or as `tie_rules.ties_by` asks for), moved by the zero point, saturated."""
    info = np.iinfo(dtype)
    steps = off_ties(call.outputs, steps, zero_point)
    marked, zero = np.asarray(call.mark("steps", steps)), np.asarray(zero_point, steps.dtype)
    held: Tensor = np.empty(marked.shape, dtype)
    for part in in_chunks(marked.shape, zero.shape):
        whole = np.asarray(np.rint(marked[part]))
        whole += zero
        held[part] = np.clip(whole, info.min, info.max, out=whole)
    return held


def own_range(x: Tensor, axes: tuple[int, ...] | None = None) -> tuple[Tensor, Tensor]:
    """Scale and zero point of the eight bits from the least to the largest element, zero among them; along these axes, which
    stay with length 1, or of all."""
    keep = axes is not None
    low, high = x.min(initial=0, axis=axes, keepdims=keep), x.max(initial=0, axis=axes, keepdims=keep)
    scale = (high - low) / x.dtype.type(255)
    scale = np.where(scale == 0, x.dtype.type(1), scale)
    return scale, np.clip(np.rint(-low / scale), 0, 255)


def _spread(parameter: Tensor, shape: tuple[int, ...], axis: int, block: int) -> Tensor:
    from onnx.reference.ops._quant_utils import reshape_input

    spread: Tensor = reshape_input(parameter, shape, axis, block)
    return spread


def _quantize(call: Call) -> Values | None:
    x, scale, zero = call.input(0), call.input(1), call.input(2)
    if zero is None and call.attributes.get("output_dtype"):
        return None
    dtype = np.dtype(np.uint8) if zero is None else zero.dtype
    if dtype.name not in _WHOLE:
        return None
    axis, block = call.attributes.get("axis", 1), call.attributes.get("block_size") or 0
    x = x if x.dtype.kind == "f" else x.astype(np.float64 if scale.dtype == np.float64 else np.float32)
    steps = x / _spread(scale, x.shape, axis, block).astype(x.dtype)
    offset = 0.0 if zero is None else _spread(zero, x.shape, axis, block)
    return (on_grid(call, steps, offset, dtype),)


def _dynamic(call: Call) -> Values | None:
    """Range from the tensor itself, zero inside it. onnx.reference rounds scale and zero point as this does; the scale that is given
    is a difference, divided by 255 or multiplied by its inverse."""
    x = call.inputs[0]
    scale, zero = own_range(x)
    grid = on_grid(call, x / scale, zero, np.dtype(np.uint8))
    return grid, call.mark("fused", np.asarray(scale, x.dtype)), np.asarray(zero, np.uint8)


def _dequantized(x: Tensor, scale: Tensor, zero: Tensor | None, axis: int) -> Tensor:
    wide = x.astype(scale.dtype)
    if zero is not None:
        wide = wide - _spread(zero, x.shape, axis, 0).astype(scale.dtype)
    return wide * _spread(scale, x.shape, axis, 0)


def _matmul(call: Call) -> Values | None:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = call.inputs[:8]
    if (
        any(scale.ndim > 0 and scale.size > 1 for scale in (a_scale, b_scale, y_scale))
        or y_zero.dtype.name not in _WHOLE
    ):
        return None
    a_scale, b_scale, y_scale = (scale.reshape(()) for scale in (a_scale, b_scale, y_scale))
    left, right = (
        _dequantized(*operand, 0) for operand in ((a, a_scale, a_zero.reshape(())), (b, b_scale, b_zero.reshape(())))
    )
    return (on_grid(call, left @ right / y_scale, y_zero.reshape(()), y_zero.dtype),)


def _convolution(call: Call) -> Values | None:
    """The bias is in steps of x_scale w_scale, around 0."""
    from assay.numerics.oracle.convolution import convolved

    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = call.inputs[:8]
    bias, attributes = call.input(8), call.attributes
    fits = x.ndim > 2 and x.shape[1] == w.shape[1] * (stated(attributes, "group", 1))
    if not fits or x_scale.size > 1 or y_scale.size > 1 or y_zero.dtype.name not in _WHOLE:
        return None
    left = _dequantized(x, x_scale.reshape(()), x_zero.reshape(()), 0)
    w_scale, w_zero = (parameter.reshape(()) if parameter.size == 1 else parameter for parameter in (w_scale, w_zero))
    right = _dequantized(w, w_scale, w_zero, 0)
    offset = None if bias is None else bias.astype(left.dtype) * (x_scale.reshape(()) * w_scale.reshape(-1))
    steps = convolved(left, right, offset, attributes) / y_scale.reshape(())
    return (on_grid(call, steps, y_zero.reshape(()), y_zero.dtype),)


def _quantized_rows(operator: Operator) -> Values | None:
    """One scale, or one for each index of the axis; blocks of scales have as many axes as the input and no rows."""
    return along_axis(1)(operator) if np.ndim(operator.inputs[1]) < 2 else None


def _convolution_terms(call: Call) -> float:
    return float(math.prod(call.inputs[3].shape[1:]))


def _matrix_terms(call: Call) -> float:
    return float(call.inputs[0].shape[-1])


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "QuantizeLinear",
        moves=True,
        steers=(1, 2),
        scales=(1,),
        zero_points=(2,),
        jumps=True,
        rounds=True,
        decides="step",
        kernel=_quantize,
        batched=_quantized_rows,
        shape=same_shape,
        mutations=SCALES | {"zero-point-step", "wrap-for-saturate", "truncate-for-round"},
    ),
    *alike(
        "DequantizeLinear",
        rounding=dequantized,
        steers=(1, 2),
        scales=(1,),
        zero_points=(2,),
        order="kept",
        reference="dequantize",
        fresh=True,
        batched=_quantized_rows,
        shape=same_shape,
        mutations=SCALES | {"zero-point-step"},
    ),
    *alike("DynamicQuantizeLinear", jumps=True, rounds=True, kernel=_dynamic, shape=same_shape),
    *alike(
        "QLinearConv",
        steers=(1, 2, 4, 5, 6, 7),
        terms=_convolution_terms,
        bias=8,
        scales=(4, 1, 6),
        zero_points=(2, 5, 7),
        jumps=True,
        rounds=True,
        kernel=_convolution,
        shape=convolution_shape,
        mutations=BIAS | WINDOW | SCALES | {"zero-point-step"},
    ),
    *alike(
        "QLinearMatMul",
        steers=(1, 2, 4, 5, 6, 7),
        terms=_matrix_terms,
        scales=(4, 1, 6),
        zero_points=(2, 5, 7),
        jumps=True,
        rounds=True,
        kernel=_matmul,
        shape=product_shape,
        mutations=SCALES | {"zero-point-step"},
    ),
)
