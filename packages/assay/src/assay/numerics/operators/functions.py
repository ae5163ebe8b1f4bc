"""Functions of one number that an engine computes by a polynomial or a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import elementwise
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.elementwise import same_shape, unary_shape
from assay.numerics.shapes.needed_values import TINY, Demands, Need, positive
from assay.numerics.shapes.values import Node, Value
from assay.numerics.tolerance.rules.functions import function
from assay.ports import Tensor


def erf_of(x: Tensor) -> Tensor:
    """In the type of `x`."""
    from scipy.special import erf

    result: Tensor = erf(x)
    return result


def _erf(call: Call) -> Values | None:
    x = call.inputs[0]
    return (erf_of(x),) if x.dtype.kind == "f" else None


def _cosine_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(-1.0, 1.0)


def _tangent_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(-1.0 + TINY, 1.0 - TINY)


def _hyperbolic_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(1.0, inf)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Exp", rounding=function(lambda x, z: z, absolute=False), batched=elementwise, shape=unary_shape(np.exp)),
    *alike("Log", rounding=function(None), batched=elementwise, shape=unary_shape(np.log), ranges=positive),
    *alike("Sin", rounding=function(lambda x, z: np.cos(x)), batched=elementwise, shape=same_shape),
    *alike("Cos", rounding=function(lambda x, z: np.sin(x)), batched=elementwise, shape=same_shape),
    *alike("Tan", rounding=function(lambda x, z: 1 + z * z), batched=elementwise, shape=same_shape),
    *alike("Asin Acos", rounding=function(None), batched=elementwise, shape=same_shape, ranges=_cosine_ranges),
    *alike("Atan", rounding=function(lambda x, z: 1 / (1 + x * x)), batched=elementwise, shape=same_shape),
    *alike("Sinh", rounding=function(lambda x, z: np.sqrt(1 + z * z)), batched=elementwise, shape=same_shape),
    *alike("Cosh", rounding=function(lambda x, z: z), batched=elementwise, shape=same_shape),
    *alike("Asinh", rounding=function(lambda x, z: 1 / np.sqrt(1 + x * x)), batched=elementwise, shape=same_shape),
    *alike("Acosh", rounding=function(None), batched=elementwise, shape=same_shape, ranges=_hyperbolic_ranges),
    *alike("Atanh", rounding=function(None), batched=elementwise, shape=same_shape, ranges=_tangent_ranges),
    *alike(
        "Erf",
        rounding=function(lambda x, z: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
        kernel=_erf,
        batched=elementwise,
        shape=same_shape,
    ),
)
