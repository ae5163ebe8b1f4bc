"""Activations that onnx.reference takes element by element in Python, or expands into many steps."""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.oracle.hooks import Call, Kernel, Values
from assay.ports import Tensor


def erf_of(x: Tensor) -> Tensor:
    """In the type of `x`."""
    from scipy.special import erf

    result: Tensor = erf(x)
    return result


def _erf(call: Call) -> Values | None:
    x = call.inputs[0]
    return (erf_of(x),) if x.dtype.kind == "f" else None


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
    one = call.mark("inner", 1 + gate)
    return (call.mark("fused", x * one / 2),)


def _softplus(call: Call) -> Values | None:
    """log(1 + exp(x)) without overflow."""
    x = call.inputs[0]
    return (np.logaddexp(x.dtype.type(0), x),)


ACTIVATIONS: dict[str, Kernel] = {"Erf": _erf, "Gelu": _gelu, "Softplus": _softplus}
