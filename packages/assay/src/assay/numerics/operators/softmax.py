"""Softmax and its kin."""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.operators.mutations import CLASSES
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, along_axis
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.kernels.terms import summed
from assay.numerics.shapes.elementwise import same_shape
from assay.ports import Tensor


def _rows(call: Call) -> tuple[Tensor, int, tuple[int, ...]]:
    """The input with the axis to normalise, and the shape to give back. Before opset 13 the input is a matrix."""
    x: Tensor = call.inputs[0]
    axis = call.attributes.get("axis")
    if call.version >= 13:
        return x, -1 if axis is None else axis, x.shape
    first: int = axis if axis is not None and "axis" in call.explicit else 1
    rows = math.prod(x.shape[: first % x.ndim if x.ndim else 0])
    return x.reshape(rows, -1), 1, x.shape


def softmax_of(call: Call, x: Tensor, axis: int) -> Tensor:
    """exp(x - max) / sum, the three roundings marked."""
    with np.errstate(invalid="ignore"):
        shifted = x - np.max(x, axis=axis, keepdims=True)
    powers = call.mark("exp", np.exp(shifted), x=shifted)
    total = call.mark("positive_sum", powers.sum(axis=axis, keepdims=True), **summed(powers, axis))
    return call.mark("output", powers / total)


def softmax(call: Call) -> Values | None:
    if call.inputs[0].ndim == 0 or not call.inputs[0].size:
        return None
    x, axis, shape = _rows(call)
    return (softmax_of(call, x, axis).reshape(shape),)


def log_softmax(call: Call) -> Values | None:
    if call.inputs[0].ndim == 0 or not call.inputs[0].size:
        return None
    x, axis, shape = _rows(call)
    shifted = call.mark("inner", x - np.max(x, axis=axis, keepdims=True))
    powers = call.mark("exp", np.exp(shifted), x=shifted)
    total = call.mark("positive_sum", powers.sum(axis=axis, keepdims=True), **summed(powers, axis))
    logarithm = call.mark("log", np.log(total), x=total)
    return (call.mark("output", shifted - logarithm).reshape(shape),)


def _softmax_rows(operator: Operator) -> Values | None:
    """Before opset 13 the input is a matrix."""
    return along_axis(-1)(operator) if operator.call.version >= 13 and operator.shape(0) else None


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Softmax",
        reference="old_opsets",
        kernel=softmax,
        batched=_softmax_rows,
        shape=same_shape,
        mutations=CLASSES | {"coarse-softmax"},
    ),
    *alike(
        "LogSoftmax",
        reference="old_opsets",
        kernel=log_softmax,
        batched=_softmax_rows,
        shape=same_shape,
        mutations=CLASSES,
    ),
    *alike(
        "Hardmax",
        moves=True,
        jumps=True,
        reference="old_opsets",
        batched=_softmax_rows,
        shape=same_shape,
        mutations={"softmax-axis"},
    ),
)
