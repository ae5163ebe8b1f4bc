"""The noise of functions of one number, good to 4 units and a quarter of a unit of their argument, and of normalisations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.dyadic import holds, largest, step_of
from assay.numerics.tolerance.rules.rounding_rules import EXACT, Rule, RuleSite, Variance, fused, rounding
from assay.numerics.tolerance.rules.sum_drift import with_drift
from assay.ports import Tensor

FLOAT32 = 2.0**-24
"""Its unit roundoff."""


def function(slope: Callable[[Tensor, Tensor], Any] | None, *, absolute: bool = True) -> Rule:
    """4 units of the result, a quarter of a unit of the argument; `absolute`: near zero the units are those of 1."""

    def rule(site: RuleSite, unit: Arithmetic) -> Variance:
        z, x = site.value, site.x()
        own = 16 * np.square(z)
        if absolute:
            own = own + unit.absolute**2
        if slope is not None:
            own = own + np.square(0.25 * x * slope(x, z))
        return unit.storage**2 / 3 * np.square(z) + unit.accumulate**2 / 3 * own

    return rule


def window(site: RuleSite, unit: Arithmetic) -> Variance:
    """A sum of cosines of up to two periods: their arguments are rounded several times, and their sum is small at the ends. Its body in
    the standard computes in float32 and casts the sum, a double one, too."""
    return unit.storage**2 / 3 * np.square(site.value) + (8 * max(unit.accumulate, FLOAT32)) ** 2 / 3


def progression(site: RuleSite, unit: Arithmetic) -> Variance:
    """start + i * delta, or delta added i times: that errs the same way at each step of one binade, so the roundings of all steps
    before add up. Of dyadic numbers all of it is exact."""
    start, delta = (np.asarray(site.call.inputs[at], np.float64) for at in (0, 2))
    steps = delta * np.arange(site.value.size)
    grid = min(float(step_of(array).min()) for array in (start, delta))
    size = max(largest(site.value), largest(steps))
    if holds(size, grid, unit.storage):
        return EXACT
    one_after_the_other = (
        0.0 if holds(size, grid, unit.accumulate) else np.cumsum(np.maximum(abs(site.value), abs(steps)))
    )
    return unit.accumulate**2 / 3 * np.square(one_after_the_other) + rounding(site, unit)


def hard_sigmoid(site: RuleSite, unit: Arithmetic) -> Variance:
    """alpha x + beta between 0 and 1, times x of HardSwish: near 0 it cancels, and carries the roundings of its two terms."""
    x = site.x()
    swish = site.call.operator == "HardSwish"
    alpha, beta = (1 / 6, 0.5) if swish else (float(site.call.attributes[name]) for name in ("alpha", "beta"))
    product = alpha * x
    terms = np.square(product) + beta**2
    beyond = np.abs(product + beta - np.clip(product + beta, 0, 1))
    ramp = np.where(beyond > 4 * unit.accumulate * np.sqrt(terms), 0, unit.accumulate**2 / 3 * 2 * terms)
    return ramp * (np.square(x) if swish else 1) + fused(site, unit)


def determinant(site: RuleSite, unit: Arithmetic) -> Variance:
    """That of a matrix whose elements err by sqrt(n) units of the largest, which elimination with pivots is (Higham, 9.3): its
    derivatives are the cofactors, here by singular values, so that a matrix may have no inverse."""
    x = np.asarray(site.x(), np.float64)
    rank = x.shape[-1]
    left, singular, right = np.linalg.svd(x)
    others = np.stack([np.prod(np.delete(singular, at, -1), axis=-1) for at in range(rank)], -1)
    cofactors = np.square(left @ (others[..., None] * right)).sum(axis=(-2, -1))
    size = np.square(x).max(axis=(-2, -1))
    return unit.accumulate**2 * rank * size * cofactors + rounding(site, unit)


def inverse(site: RuleSite, unit: Arithmetic) -> Variance:
    """Of a matrix by elimination with pivots: off by n units of |X| |A| |X|, element by element (Higham, 14.1)."""
    x, z = np.asarray(site.x(), np.float64), np.abs(np.asarray(site.value, np.float64))
    return np.square(unit.accumulate * x.shape[-1] * (z @ np.abs(x) @ z)) / 3 + rounding(site, unit)


def exponential(site: RuleSite, unit: Arithmetic) -> Variance:
    """exp(x - max) inside a softmax: its argument carries the rounding of x - max."""
    x, z = site.operands["x"], site.value
    with np.errstate(invalid="ignore"):
        argument = np.where(z == 0, 0, x * z)
    return unit.accumulate**2 / 3 * (np.square(argument) + 16 * np.square(z))


def power(site: RuleSite, unit: Arithmetic) -> Variance:
    z = site.value
    exponent = site.call.inputs[1].astype(z.dtype)
    own = (16 + np.square(0.25 * exponent)) * np.square(z)
    return unit.storage**2 / 3 * np.square(z) + unit.accumulate**2 / 3 * own


def response(site: RuleSite, unit: Arithmetic) -> Variance:
    """x / (bias + alpha mean of squares)^beta: a positive sum and a power."""
    terms = float(site.call.attributes.get("size", 1))
    return (unit.accumulate**2 / 3 * (terms / 3 + 16) + unit.storage**2 / 3) * np.square(site.value)


def mean(site: RuleSite, unit: Arithmetic) -> Variance:
    terms = float(site.operands["terms"])
    spread = np.asarray(site.operands["squares"]()) / terms
    variance = unit.accumulate**2 / 3 * (np.square(site.value) * (1 + terms / 3) + terms / 2 * spread)
    return with_drift(variance, site.operands["each"](), unit, site.value, terms)


def standardized(site: RuleSite, unit: Arithmetic) -> Variance:
    """(x - mean) / deviation: the mean is rounded, and may be large beside the deviation."""
    shift = np.square(site.operands["mean"] * site.operands["inverse"]) / 12
    return unit.accumulate**2 * (np.square(site.value) / 3 + shift)


def affine(site: RuleSite, unit: Arithmetic) -> Variance:
    product = unit.accumulate**2 / 3 * np.square(site.operands["product"])
    return product + unit.storage**2 / 3 * np.square(site.value)


def batch_normalization(site: RuleSite, unit: Arithmetic) -> Variance:
    """x s + (b - m s) with s = scale / sqrt(variance + epsilon); a backend may fold s into a convolution."""
    x, scale, bias, average, variance = site.call.inputs[:5]
    shape = (1, -1, *[1] * (x.ndim - 2))
    epsilon = site.call.attributes.get("epsilon", 1e-5)
    factor = (scale / np.sqrt(variance + x.dtype.type(epsilon))).reshape(shape)
    parts = 4 * np.square(x * factor) + np.square(bias.reshape(shape)) + 4 * np.square(average.reshape(shape) * factor)
    return unit.accumulate**2 / 3 * parts + unit.storage**2 / 3 * np.square(site.value)


def logistic(_: Tensor, z: Tensor) -> Any:
    return z * (1 - z)
