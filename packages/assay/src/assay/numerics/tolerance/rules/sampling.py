"""The noise of interpolation: a rounded coordinate slides along the local slope."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import EXACT, RuleSite, Variance, text_of
from assay.numerics.tolerance.rules.window_filters import largest, smallest


def sampling(site: RuleSite, unit: Arithmetic) -> Variance:
    """Of a picture that is sampled at computed places: a rounded coordinate slides along the local slope (largest minus smallest in
    a 3x3 window)."""
    x, rest = site.call.inputs[0], site.call.inputs[1:]
    if text_of(site.call.attributes.get("mode", "nearest")) == "nearest":
        return EXACT
    window = [3 if site.value.shape[axis] != x.shape[axis] or axis >= 2 else 1 for axis in range(x.ndim)]
    slope = largest(x, window) - smallest(x, window)
    width = float(max((x.shape[axis] for axis in range(x.ndim) if window[axis] == 3), default=1))
    with np.errstate(invalid="ignore"):
        steepness = np.abs(site.again(slope, *rest)[0])
        squares = np.abs(site.again(np.square(x), *rest)[0])
        variance = np.square(unit.accumulate * width * steepness) / 3 + unit.storage**2 * squares
        if "cubic" in text_of(site.call.attributes.get("mode")):
            near = largest(np.square(x), window)
            variance = variance + _weights_of(site, window) * unit.accumulate**2 / 3 * np.abs(
                site.again(near, *rest)[0]
            )
    return variance


def _weights_of(site: RuleSite, window: Sequence[int]) -> float:
    """Cubic weights are polynomials whose terms cancel: each errs by 4 units of 1, not of itself; 4 of them an axis, more
    where a smaller picture averages."""
    pairs = zip(site.call.inputs[0].shape, site.value.shape, window, strict=True)
    return float(sum(64.0 * max(1.0, n / max(1, m)) for n, m, width in pairs if width == 3))
