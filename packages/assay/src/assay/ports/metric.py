"""What computes a figure of an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from assay.core.case import Contract
from assay.ports.values import Tensor


class Metric(Protocol):
    """One figure of one output. Conformance: `assay.testing.check_metric`."""

    def __call__(self, actual: Tensor, expected: Tensor, contract: Contract) -> Mapping[str, float]:
        """Figures by name; NaN where the figure has no meaning for these arrays. Never raises on empty, 0-d, NaN, infinity."""
        ...
