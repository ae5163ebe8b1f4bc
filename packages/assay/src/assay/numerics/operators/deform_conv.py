"""DeformConv."""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, Variance
from assay.numerics.tolerance.rules.sums import total
from assay.numerics.tolerance.rules.window_filters import largest, smallest


def deformed(site: RuleSite, unit: Arithmetic) -> Variance:
    """A convolution of sampled values: the sum, and coordinates that slide along the local slope."""
    x, weight, offset = site.call.inputs[:3]
    mask = site.call.input(4)
    window = [1, 1, *[3] * (x.ndim - 2)]
    slope = largest(x, window) - smallest(x, window)
    rest = (offset, None, None if mask is None else mask * mask)
    squares = np.maximum(site.again(x * x, weight * weight, *rest)[0], 0)
    steep = np.maximum(site.again(slope * slope, weight * weight, *rest)[0], 0)
    width = float(max(x.shape[2:]))
    slide = np.square(unit.accumulate * width) / 3 * steep
    return (
        total(float(math.prod(weight.shape[1:])), site.value, squares, unit) + 4 * unit.accumulate**2 * squares + slide
    )


OPERATORS: tuple[OnnxOperator, ...] = (*alike("DeformConv", rounding=deformed, reference="deformed"),)
