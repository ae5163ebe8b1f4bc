"""The comparator's figures of one pair of tensors, as a metric among others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.core.case import Contract
from assay.core.dtype import dtype_name
from assay.numerics.compare_output import compare_output
from assay.numerics.metrics import METRICS
from assay.ports import Tensor


def closeness(actual: Tensor, expected: Tensor, contract: Contract) -> Mapping[str, float]:
    """All of METRICS for one output; NaN where a figure has no meaning for these arrays, as for shapes that differ."""
    nothing = dict.fromkeys(METRICS, float("nan"))
    left, right = np.asarray(actual), np.asarray(expected)
    if left.shape != right.shape:
        return nothing
    return nothing | compare_output("", [left], [right], contract, dtype_name(right.dtype), threads=1).metrics
