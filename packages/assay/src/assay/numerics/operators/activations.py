"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.numerics.operators.functions import erf_of
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import elementwise
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Inputs, Walk, broadcast, plain
from assay.numerics.shapes.elementwise import same_shape, unary_shape
from assay.numerics.shapes.propagation import above_zero
from assay.numerics.shapes.values import Node, Value
from assay.numerics.tolerance.rules.functions import function, hard_sigmoid, logistic
from assay.numerics.tolerance.rules.rounding_rules import fused, rounding


def _gelu(call: Call) -> Values | None:
    """x/2 (1 + erf(x / sqrt 2)), or with tanh (ONNX Gelu-20): backends fuse it, and err by their polynomial's error."""
    x = call.inputs[0]
    mode = call.attributes.get("approximate", "none")
    mode = mode.decode() if isinstance(mode, bytes) else mode
    if mode == "tanh":
        inner = math.sqrt(2.0 / math.pi) * (x + x.dtype.type(0.044715) * x**3)
        gate = call.mark("tanh", np.tanh(inner), x=inner)
    else:
        inner = x * x.dtype.type(math.sqrt(0.5))
        gate = call.mark("erf", erf_of(inner), x=inner)
    unit = call.mark("inner", 1 + gate)
    return (call.mark("fused", x * unit / 2),)


def _softplus(call: Call) -> Values | None:
    """log(1 + exp(x)) without overflow."""
    x = call.inputs[0]
    return (np.logaddexp(x.dtype.type(0), x),)


def _prelu_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    broadcast((inputs[0].shape, inputs[1].shape))
    return plain(inputs[0].shape)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Relu",
        moves=True,
        order="moved",
        reference="reducing",
        batched=elementwise,
        shape=unary_shape(lambda x: np.maximum(x, 0)),
        carries=above_zero,
        mutations={"relu6-for-relu", "leaky-for-relu", "drop-activation"},
    ),
    *alike(
        "LeakyRelu",
        rounding=rounding,
        batched=elementwise,
        shape=same_shape,
        mutations={"relu-for-smooth", "drop-activation", "wrong-slope"},
    ),
    *alike("PRelu", rounding=rounding, shape=_prelu_shape, mutations={"drop-activation"}),
    *alike(
        "Elu Celu",
        rounding=function(lambda x, z: np.where(x < 0, z + 1, 1)),
        batched=elementwise,
        shape=same_shape,
        mutations={"relu-for-smooth", "drop-activation", "wrong-slope"},
    ),
    *alike(
        "Selu",
        rounding=function(lambda x, z: np.where(x < 0, z + 1.76, 1.05)),
        batched=elementwise,
        shape=same_shape,
        mutations={"relu-for-smooth", "drop-activation"},
    ),
    *alike(
        "Sigmoid",
        rounding=function(logistic),
        batched=elementwise,
        shape=same_shape,
        mutations={"drop-activation", "hard-sigmoid"},
    ),
    *alike(
        "HardSigmoid",
        rounding=hard_sigmoid,
        batched=elementwise,
        shape=same_shape,
        mutations={"drop-activation", "wrong-slope"},
    ),
    *alike("HardSwish", rounding=hard_sigmoid, shape=same_shape, mutations={"relu-for-smooth", "drop-activation"}),
    *alike(
        "Tanh",
        rounding=function(lambda x, z: 1 - z * z),
        batched=elementwise,
        shape=same_shape,
        mutations={"drop-activation"},
    ),
    *alike(
        "Softplus",
        rounding=function(lambda x, z: 1 - np.exp(-z)),
        kernel=_softplus,
        batched=elementwise,
        shape=same_shape,
        mutations={"relu-for-smooth", "drop-activation"},
    ),
    *alike(
        "Softsign",
        rounding=fused,
        reference="reducing",
        batched=elementwise,
        shape=same_shape,
        mutations={"drop-activation"},
    ),
    *alike(
        "ThresholdedRelu",
        moves=True,
        jumps=True,
        batched=elementwise,
        shape=same_shape,
        mutations={"drop-activation", "wrong-slope"},
    ),
    *alike(
        "Mish",
        rounding=function(lambda x, z: np.minimum(1.1, np.exp(np.minimum(x, 1)))),
        shape=same_shape,
        mutations={"relu-for-smooth", "drop-activation"},
    ),
    *alike("Gelu", kernel=_gelu, shape=same_shape, mutations={"relu-for-smooth", "drop-activation"}),
    *alike(
        "Swish",
        rounding=function(lambda x, z: np.full_like(z, 1.1)),
        expanded=True,
        shape=same_shape,
        mutations={"drop-activation"},
    ),
    *alike("Shrink", rounding=fused, jumps=True, batched=elementwise, shape=same_shape),
    *alike("SwiGLU", expanded=True),
    *alike("Affine ParametricSoftplus ScaledTanh", shape=same_shape),
)
