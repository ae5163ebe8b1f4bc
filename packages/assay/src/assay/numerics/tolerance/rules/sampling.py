"""The noise of interpolation: a rounded coordinate slides along the local slope."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import EXACT, RuleSite, Variance, text_of
from assay.numerics.tolerance.rules.sums import total
from assay.numerics.tolerance.rules.window_filters import largest, smallest


def sampling(site: RuleSite, unit: Arithmetic) -> Variance:
    """Resize and GridSample: a rounded coordinate slides along the local slope (largest minus smallest in a 3x3 window)."""
    x, rest = site.call.inputs[0], site.call.inputs[1:]
    if text_of(site.call.attributes.get("mode", "nearest")) == "nearest":
        return EXACT
    window = [3 if site.value.shape[axis] != x.shape[axis] or axis >= 2 else 1 for axis in range(x.ndim)]
    slope = largest(x, window) - smallest(x, window)
    width = float(max((x.shape[axis] for axis in range(x.ndim) if window[axis] == 3), default=1))
    with np.errstate(invalid="ignore"):
        steepness = np.abs(site.again(slope, *rest)[0])
        squares = np.abs(site.again(np.square(x), *rest)[0])
        found = np.square(unit.accumulate * width * steepness) / 3 + unit.storage**2 * squares
        if "cubic" in text_of(site.call.attributes.get("mode")):
            near = largest(np.square(x), window)
            found = found + _weights_of(site, window) * unit.accumulate**2 / 3 * np.abs(site.again(near, *rest)[0])
    return found


def regional(site: RuleSite, unit: Arithmetic) -> Variance:
    """RoiAlign and CropAndResize: samples of a region of the picture, whose places slide along the local slope, and their mean."""
    x, rest = site.call.inputs[0], site.call.inputs[1:]
    attributes = site.call.attributes
    if text_of(attributes.get("mode", "")) == "nearest":
        return EXACT
    window = [1, 1, 3, 3]
    slope = largest(x, window) - smallest(x, window)
    # Places are computed in several steps from corners and their distance.
    width = 4.0 * max(x.shape[2:])
    steepness = np.abs(site.again(slope, *rest)[0])
    squares = np.abs(site.again(np.square(x), *rest)[0])
    terms = 4.0 * _samples(site) + 4.0
    slid = np.square(unit.accumulate * width * steepness) / 3
    return slid + (unit.accumulate**2 * terms / 6 + unit.storage**2 / 3) * squares


def _samples(site: RuleSite) -> float:
    """Of one cell: as many as the cell is large where the model does not say."""
    attributes = site.call.attributes
    if "output_height" not in attributes:
        return 1.0
    stated = float(attributes.get("sampling_ratio") or 0)
    if stated > 0:
        return stated**2
    tall, wide = (float(attributes.get(name) or 1) for name in ("output_height", "output_width"))
    regions = np.asarray(site.call.inputs[1], np.float64) * float(attributes.get("spatial_scale") or 1.0)
    sides = np.abs(regions[:, 2:4] - regions[:, :2]).max(initial=1.0)
    return float(np.ceil(sides / tall) * np.ceil(sides / wide))


def _weights_of(site: RuleSite, window: Sequence[int]) -> float:
    """Cubic weights are polynomials whose terms cancel: each errs by 4 units of 1, not of itself; 4 of them an axis, more
    where a smaller picture averages."""
    pairs = zip(site.call.inputs[0].shape, site.value.shape, window, strict=True)
    return float(sum(64.0 * max(1.0, n / max(1, m)) for n, m, width in pairs if width == 3))


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
