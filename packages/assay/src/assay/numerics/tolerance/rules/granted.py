"""The error that an execution environment grants its elementary functions, where its specification is wider than what kernels keep.

Vulkan, "Precision and Operation of SPIR-V Instructions", for 32 bits (https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#spirvenv-op-prec):
a bound for a few functions, and for the others the formula from which they inherit theirs. What a formula adds is of first order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import Rule, RuleSite, Variance
from assay.ports import Tensor

Bound = Callable[[Tensor, Tensor, float], Tensor]
"""Of an argument, the result and one unit in the last place of 1: the largest absolute error of the result."""
_LARGEST_EXPONENT = 88.0
"""Beyond it exp leaves float32, and formulas that divide two of them say nothing."""
_DIVISION, _INVERSE_ROOT, _ARC = 2.5, 2.0, 4096.0
_ROOT = _DIVISION + _INVERSE_ROOT
_TURN = 2.0**-11
_LOG_NEAR_ONE = 2.0**-21


def _units(count: float) -> Bound:
    return lambda _, z, ulp: count * ulp * np.abs(z)


def _exponent(x: Tensor, ulp: float) -> Tensor:
    """The relative error of exp."""
    return np.asarray((3 + 2 * np.minimum(np.abs(x), _LARGEST_EXPONENT)) * ulp)


def _exp(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    return _exponent(x, ulp) * np.abs(z)


def _log(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    return np.where((x >= 0.5) & (x <= 2.0), _LOG_NEAR_ONE, 3 * ulp * np.abs(z))


def _sin(_: Tensor, z: Tensor, __: float) -> Tensor:
    """Vulkan says it of [-pi, pi]; beyond, where it says nothing, no more is taken."""
    return np.full_like(z, _TURN)


def _tan(_: Tensor, z: Tensor, ulp: float) -> Tensor:
    """sin(x) / cos(x)."""
    return _TURN * (1 + np.abs(z)) * np.sqrt(1 + z * z) + _DIVISION * ulp * np.abs(z)


def _acos(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """atan2(sqrt(1 - x * x), x): near 1 the difference is rounded."""
    root = np.sqrt(np.maximum(1 - x * x, ulp))
    return _ARC * ulp * np.abs(z) + ulp / root


def _hyperbolic(x: Tensor, _: Tensor, ulp: float) -> Tensor:
    """(exp(x) -+ exp(-x)) / 2."""
    return _exponent(x, ulp) * np.cosh(x)


def _tanh(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """sinh(x) / cosh(x)."""
    return _exponent(x, ulp) * (1 + np.abs(z)) + _DIVISION * ulp * np.abs(z)


def _asinh(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """log(x + sqrt(x * x + 1))."""
    inner = np.exp(z)
    return _log(inner, z, ulp) + _ROOT * ulp * np.sqrt(x * x + 1) / inner


def _acosh(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """log(x + sqrt(x * x - 1)): near 1 the difference is rounded."""
    root = np.sqrt(np.maximum(x * x - 1, ulp))
    return _log(np.exp(z), z, ulp) + ulp * (_ROOT * root + x * x / root) / np.exp(z)


def _atanh(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """log((1 + x) / (1 - x)) / 2."""
    return _log(np.exp(2 * z), 2 * z, ulp) / 2 + ulp * (_DIVISION + 1 / np.maximum(1 - np.abs(x), ulp)) / 2


def _sigmoid(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """1 / (1 + exp(-x))."""
    return _exponent(x, ulp) * z * (1 - z) + _DIVISION * ulp * z


def _softplus(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """log(1 + exp(x))."""
    return _log(np.exp(z), z, ulp) + _exponent(x, ulp) * -np.expm1(-z)


def _exponential_unit(x: Tensor, z: Tensor, ulp: float) -> Tensor:
    """a (exp(x) - 1) below zero, where z is above -a; a is at most 1.76 unless the model says otherwise."""
    below = np.minimum(x, 0)
    scale = np.maximum(1.76, np.abs(z) / np.maximum(-np.expm1(below), ulp))
    return np.where(x < 0, _exponent(below, ulp) * scale * np.exp(below), 0.0)


VULKAN: Mapping[str, Bound] = {
    **dict.fromkeys(("Exp", "exp"), _exp),
    **dict.fromkeys(("Log", "log"), _log),
    **dict.fromkeys(("Sin", "Cos"), _sin),
    **dict.fromkeys(("Asin", "Atan"), _units(_ARC)),
    **dict.fromkeys(("Sinh", "Cosh"), _hyperbolic),
    **dict.fromkeys(("Tanh", "tanh"), _tanh),
    **dict.fromkeys(("Sigmoid", "sigmoid"), _sigmoid),
    **dict.fromkeys(("Elu", "Celu", "Selu"), _exponential_unit),
    **dict.fromkeys(("Div", "Reciprocal", "Softsign"), _units(_DIVISION)),
    "Sqrt": _units(_ROOT),
    "Tan": _tan,
    "Acos": _acos,
    "Asinh": _asinh,
    "Acosh": _acosh,
    "Atanh": _atanh,
    "Softplus": _softplus,
}
"""By operator, and by the kind of a place inside of one (`noise_rules.INNER`)."""


def _power(site: RuleSite, ulp: float) -> Tensor:
    """exp2(y * log2(x))."""
    x, y = np.abs(np.asarray(site.x(), np.float64)), np.asarray(site.call.inputs[1], np.float64)
    logarithm = np.log2(np.maximum(x, np.finfo(np.float64).tiny))
    off = np.where((x >= 0.5) & (x <= 2.0), _LOG_NEAR_ONE, 3 * ulp * np.abs(logarithm)) * np.abs(y)
    return (off * np.log(2) + _exponent(y * logarithm, ulp)) * np.abs(site.value)


def variance_of(rule: Rule, site: RuleSite, unit: Arithmetic) -> Variance:
    """What a rule says of a place, and what the environment grants its function beside it: as likely as any error within the bound."""
    own = rule(site, unit)
    if not unit.granted or not (site.kind in VULKAN or site.kind == "Pow"):
        return own
    ulp = 2 * unit.accumulate
    with np.errstate(all="ignore"):
        bound = _power(site, ulp) if site.kind == "Pow" else VULKAN[site.kind](site.x(), site.value, ulp)
        return own + np.where(np.isfinite(bound), np.square(bound) / 3, 0.0)
