"""Operators written from the text of the standard, in plain numpy, where neither ONNX Runtime nor torch has a word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracle_table.case import Array, OpCase

Written = Callable[[OpCase], Sequence[Any]]


def _met(case: OpCase) -> tuple[Array, Array]:
    """How two inputs met before opset 7: the second lies along axes of the first, from `axis` or at the end."""
    a, b = case.inputs
    if not case.attributes.get("broadcast"):
        return a, b
    axis = case.attributes.get("axis", a.ndim - b.ndim)
    if b.size == 1:
        return a, b.reshape([1] * a.ndim)
    return a, b.reshape(*[1] * axis, *b.shape, *[1] * (a.ndim - axis - b.ndim))


def _two(function: Callable[[Array, Array], Array], kind: Any = None) -> Written:
    def run(case: OpCase) -> Sequence[Any]:
        a, b = _met(case)
        return (np.asarray(function(a, b)).astype(kind or a.dtype),)

    return run


def _one(function: Callable[[Array], Any], kind: Any = None) -> Written:
    def run(case: OpCase) -> Sequence[Any]:
        x = case.inputs[0]
        wide = x.astype(np.float64) if x.dtype.kind == "f" or x.dtype.itemsize == 2 else x
        return (np.asarray(function(wide)).astype(kind or x.dtype),)

    return run


def _divided(a: Array, b: Array) -> Array:
    """Toward zero for whole numbers."""
    return (
        a / b
        if a.dtype.kind not in "iu"
        else (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)) if a.dtype.kind == "i" else a // b)
    )


_gamma = np.vectorize(math.erf, otypes=[float])

BY_HAND: dict[tuple[str, str], Written] = {
    ("", "Add"): _two(np.add),
    ("", "Sub"): _two(np.subtract),
    ("", "Mul"): _two(np.multiply),
    ("", "Div"): _two(_divided),
    ("", "And"): _two(np.logical_and, bool),
    ("", "Or"): _two(np.logical_or, bool),
    ("", "Xor"): _two(np.logical_xor, bool),
    ("", "Equal"): _two(np.equal, bool),
    ("", "Less"): _two(np.less, bool),
    ("", "Greater"): _two(np.greater, bool),
    ("", "LessOrEqual"): _two(np.less_equal, bool),
    ("", "GreaterOrEqual"): _two(np.greater_equal, bool),
    ("", "BitwiseAnd"): _two(np.bitwise_and),
    ("", "BitwiseOr"): _two(np.bitwise_or),
    ("", "BitwiseXor"): _two(np.bitwise_xor),
    **{
        ("", name): _one(function)
        for name, function in {
            "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan, "Atanh": np.arctanh,
            "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh, "Erf": _gamma, "Exp": np.exp, "Floor": np.floor, "Log": np.log,
            "Neg": np.negative, "Reciprocal": np.reciprocal, "Round": np.rint, "Sin": np.sin, "Sinh": np.sinh, "Sqrt": np.sqrt,
            "Tan": np.tan, "Tanh": np.tanh, "Abs": np.abs, "Sign": np.sign,
            "Softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0), "Softsign": lambda x: x / (1 + np.abs(x)),
            "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
        }.items()
    },
    ("", "Not"): _one(np.logical_not, bool),
    ("", "IsNaN"): _one(np.isnan, bool),
}  # fmt: skip
