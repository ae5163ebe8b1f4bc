"""Noise that comes as rare whole jumps: of gates that saturate, in flows that store their weights in eight bits.

    state of 128 numbers, 8 draws     two numbers moved by 1 in some draw, the others by nothing
    an engine                         a third number is off by 1

A draw turns a gate or it does not: after a few draws nobody knows which other gates an engine turns. How much of it there is together
is known, and so the norm of all errors still decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.core.finding import Finding, FindingCode, facts
from assay.numerics.tolerance.rules.rounding_steps import spread_over
from assay.ports import Tensor

FEWER = 8
"""Noise lies in so many times fewer elements than the values do, where it comes as jumps."""


def rare_jumps(
    output: str, errors: Sequence[Tensor], variances: Sequence[Tensor], values: Sequence[Tensor], draws: int
) -> Finding | None:
    """Why the limit of an element tells nothing; None where the noise is spread as the values are, or where an element is further off
    than any draw may have moved one."""
    of_noise = sum(spread_over(variance) for variance in variances)
    of_values = sum(spread_over(np.square(value)) for value in values)
    if not 0.0 < of_noise < draws * len(variances) or FEWER * of_noise > of_values:
        return None
    most = math.sqrt(draws * max(float(variance.max(initial=0.0)) for variance in variances))
    if max(float(np.abs(error).max(initial=0.0)) for error in errors) > most:
        return None
    numbers = facts(most=most, count=round(of_noise), elements=sum(error.size for error in errors))
    return Finding("degenerate", output, FindingCode.RARE_JUMPS, numbers)
