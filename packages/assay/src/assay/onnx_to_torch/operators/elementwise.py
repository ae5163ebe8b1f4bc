"""Arithmetic, comparison and logic, element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from typing import Any

import torch

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import scalar

Tensor = torch.Tensor

_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


def in_int64(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch stores uint16, uint32 and uint64 but computes with few of them: two's complement in int64 gives the same
    bits for what wraps."""

    @wraps(function)
    def widened(node: Node, *inputs: Any) -> Any:
        kinds = {value.dtype for value in inputs if isinstance(value, Tensor)}
        unsigned = kinds & set(_UNSIGNED)
        if not unsigned:
            return function(node, *inputs)
        wide = [
            value.to(torch.int64) if isinstance(value, Tensor) and value.dtype in _UNSIGNED else value
            for value in inputs
        ]
        result = function(node, *wide)
        return result.to(unsigned.pop()) if isinstance(result, Tensor) and result.dtype == torch.int64 else result

    return widened


def _unary(name: str, function: Callable[[Tensor], Tensor]) -> None:
    operator(name)(in_int64(lambda node, x: function(x)))


_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": torch.abs,
    "Neg": torch.neg,
    "Exp": torch.exp,
    "Log": torch.log,
    "Sqrt": torch.sqrt,
    "Reciprocal": torch.reciprocal,
    "Erf": torch.erf,
    "Sign": torch.sign,
    "Floor": torch.floor,
    "Ceil": torch.ceil,
    "Round": torch.round,
    "Sin": torch.sin,
    "Cos": torch.cos,
    "Tan": torch.tan,
    "Asin": torch.asin,
    "Acos": torch.acos,
    "Atan": torch.atan,
    "Sinh": torch.sinh,
    "Cosh": torch.cosh,
    "Tanh": torch.tanh,
    "Asinh": torch.asinh,
    "Acosh": torch.acosh,
    "Atanh": torch.atanh,
    "Not": torch.logical_not,
    "BitwiseNot": torch.bitwise_not,
    "IsNaN": torch.isnan,
    "Identity": lambda x: x,
}
for _name, _function in _UNARY.items():
    _unary(_name, _function)


def _binary(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    operator(name)(in_int64(lambda node, a, b: function(a, b)))


_BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "Equal": torch.eq,
    "Less": torch.lt,
    "LessOrEqual": torch.le,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "And": torch.logical_and,
    "Or": torch.logical_or,
    "Xor": torch.logical_xor,
    "BitwiseAnd": torch.bitwise_and,
    "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor,
}
for _name, _both in _BINARY.items():
    _binary(_name, _both)


@operator("Div")
@in_int64
def divide(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Integers are truncated towards zero."""
    return torch.div(a, b, rounding_mode=None if a.is_floating_point() or a.is_complex() else "trunc")


@operator("Mod")
@in_int64
def mod(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """The sign of the divisor, or with fmod that of the dividend."""
    return torch.fmod(a, b) if node.get("fmod", 0) else torch.remainder(a, b)


@operator("Pow", host=(1,))
def power(node: Node, base: Tensor, exponent: Any) -> Tensor:
    """The result has the type of the base. A known exponent is a number: backends have kernels for squares and roots."""
    if not isinstance(exponent, Tensor) and getattr(exponent, "size", 0) == 1 and exponent.ndim <= base.ndim:
        number = scalar(exponent)
        if base.is_floating_point() or (isinstance(number, int) and number >= 0):
            return torch.pow(base, number)
    from assay.onnx_to_torch.values import tensor

    wide = tensor(exponent, base.device)
    if not base.is_floating_point() and wide.is_floating_point():
        return torch.pow(base.to(wide.dtype), wide).to(base.dtype)
    return torch.pow(base, wide.to(base.dtype))


def _variadic(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    operator(name)(in_int64(lambda node, *values: reduce(function, values)))


_variadic("Min", torch.minimum)
_variadic("Max", torch.maximum)
_variadic("Sum", torch.add)


@operator("Mean")
def mean(node: Node, *values: Tensor) -> Tensor:
    return reduce(torch.add, values) / len(values)


@operator("Where")
def where(node: Node, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.where(condition, a, b)


@operator("Clip", host=(1, 2))
@in_int64
def clip(node: Node, x: Tensor, low: Any = None, high: Any = None) -> Tensor:
    low = node.get("min") if low is None else _limit(low)
    high = node.get("max") if high is None else _limit(high)
    if low is None and high is None:
        return x
    tensors = [bound for bound in (low, high) if isinstance(bound, Tensor)]
    if not tensors:
        return torch.clamp(x, low, high)
    x = x if low is None else torch.maximum(x, torch.as_tensor(low, dtype=x.dtype, device=x.device))
    return x if high is None else torch.minimum(x, torch.as_tensor(high, dtype=x.dtype, device=x.device))


def _limit(value: Any) -> Any:
    return value if isinstance(value, Tensor) else scalar(value)


@operator("IsInf")
def is_infinite(node: Node, x: Tensor) -> Tensor:
    positive, negative = node.get("detect_positive", 1), node.get("detect_negative", 1)
    if positive and negative:
        return torch.isinf(x)
    infinity = float("inf") if positive else float("-inf")
    return x == infinity if positive or negative else torch.zeros_like(x, dtype=torch.bool)


@operator("BitShift")
def bit_shift(node: Node, x: Tensor, by: Tensor) -> Tensor:
    """Signed integers keep their sign to the right. Shifts of the whole width or more leave nothing but the sign."""
    width = x.dtype.itemsize * 8
    bits, count = x.to(torch.int64), by.to(torch.int64)
    beyond = (count < 0) | (count >= width)
    if node.get("direction") == "LEFT":
        shifted = torch.bitwise_left_shift(bits, torch.clamp(count, 0, 63))
        return torch.where(beyond, torch.zeros_like(shifted), shifted).to(x.dtype)
    if x.dtype == torch.uint64:
        # int64 would copy its sign: the first step clears it.
        half = torch.bitwise_right_shift(bits, 1) & (2**63 - 1)
        shifted = torch.bitwise_right_shift(half, torch.clamp(count - 1, 0, 63))
        shifted = torch.where(count == 0, bits, shifted)
        return torch.where(beyond, torch.zeros_like(shifted), shifted).to(x.dtype)
    steps = torch.where(beyond, torch.full_like(count, 63), count)
    return torch.bitwise_right_shift(bits, steps).to(x.dtype)


@operator("Trilu", host=(1,))
def triangle(node: Node, x: Tensor, k: Any = None) -> Tensor:
    from assay.onnx_to_torch.values import integer

    diagonal = 0 if k is None else integer(k)
    return torch.triu(x, diagonal) if node.get("upper", 1) else torch.tril(x, diagonal)


@operator("Det")
def determinant(node: Node, x: Tensor) -> Tensor:
    return torch.linalg.det(x)


@operator("CumSum", host=(1,))
def cumulative_sum(node: Node, x: Tensor, axis: Any) -> Tensor:
    return _cumulative(node, x, axis, torch.cumsum, 0)


@operator("CumProd", host=(1,))
def cumulative_product(node: Node, x: Tensor, axis: Any) -> Tensor:
    return _cumulative(node, x, axis, torch.cumprod, 1)


def _cumulative(node: Node, x: Tensor, axis: Any, function: Callable[..., Tensor], start: int) -> Tensor:
    from assay.onnx_to_torch.values import integer

    where = integer(axis)
    if node.get("reverse", 0):
        x = torch.flip(x, [where])
    result = function(x, where, dtype=x.dtype)
    if node.get("exclusive", 0):
        first = torch.full_like(result.narrow(where, 0, 1), start)
        result = torch.cat([first, result.narrow(where, 0, result.shape[where] - 1)], where)
    return torch.flip(result, [where]) if node.get("reverse", 0) else result
