"""Activations: Gelu and its kin, and those that FusedConv and FusedGemm end with (ONNX Runtime, ContribOperators.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.contrib.body import Body, Unknown
from assay.numerics.shapes.elementwise import same_shape

_CUBIC = 0.044715


def gelu(body: Body, x: str) -> str:
    """x/2 (1 + erf(x / sqrt 2))."""
    if body.version >= 20:
        return body.step("Gelu", x)
    gate = body.step("Erf", body.times(x, math.sqrt(0.5)))
    return body.step("Mul", body.times(x, 0.5), body.step("Add", gate, body.number(1, x)))


def fast_gelu(body: Body, x: str) -> str:
    """The same with tanh(sqrt(2/pi) (x + 0.044715 x^3)) in place of erf."""
    if body.version >= 20:
        return body.step("Gelu", x, approximate="tanh")
    slope = math.sqrt(2 / math.pi)
    inner = body.step("Add", body.times(body.step("Mul", x, x), _CUBIC * slope), body.number(slope, x))
    gate = body.step("Tanh", body.step("Mul", x, inner))
    return body.step("Mul", body.times(x, 0.5), body.step("Add", gate, body.number(1, x)))


def activated(body: Body, x: str, name: str, parameters: Sequence[float]) -> str:
    """x itself where there is no name."""
    if not name:
        return x
    if name == "Clip":
        low, high = parameters
        return body.step("Min", body.step("Max", x, body.number(low, x)), body.number(high, x))
    named = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "Elu": ("alpha",)}
    if name not in (*named, "Relu", "Tanh", "Sigmoid", "Softplus", "Softsign"):
        raise Unknown
    return body.step(name, x, **dict(zip(named.get(name, ()), parameters, strict=False)))


def _gelu(body: Body) -> None:
    body.give(gelu(body, body.input(0)))


def _biased_gelu(body: Body) -> None:
    body.give(gelu(body, body.add(body.input(0), body.input(1))))


def _fast(body: Body) -> None:
    body.give(fast_gelu(body, body.add(body.input(0), body.input(1))))


def _quick(body: Body) -> None:
    """x sigmoid(alpha x)."""
    x = body.input(0)
    body.give(body.step("Mul", x, body.step("Sigmoid", body.times(x, body.attribute("alpha", 1.702)))))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Gelu", domain=MICROSOFT, decomposition=_gelu),
    *alike("BiasGelu", domain=MICROSOFT, decomposition=_biased_gelu, shape=same_shape),
    *alike("FastGelu", domain=MICROSOFT, decomposition=_fast, shape=same_shape),
    *alike("QuickGelu", domain=MICROSOFT, decomposition=_quick, shape=same_shape, mutations={"drop-activation"}),
)
