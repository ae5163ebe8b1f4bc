"""What computes a figure of an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from assay.core.case import Contract
from assay.core.comparison import Direction
from assay.ports.values import Tensor


@runtime_checkable
class Metric(Protocol):
    """Figures of one output. Conformance: `assay.testing.check_metric`."""

    @property
    def figures(self) -> Mapping[str, tuple[str, Direction]]:
        """Of each figure that it gives its unit ("" for a pure number), and which way is worse: "up", "down", or "both" (away
        from 1)."""
        ...

    def __call__(self, actual: Tensor, expected: Tensor, contract: Contract) -> Mapping[str, float]:
        """Those of `figures` by name; NaN where the figure has no meaning for these arrays. Never raises on empty, 0-d, NaN, infinity."""
        ...
