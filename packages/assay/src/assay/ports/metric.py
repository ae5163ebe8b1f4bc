"""What computes a metric of an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from assay.core.case import Contract
from assay.core.comparison import Direction
from assay.ports.values import Tensor


@runtime_checkable
class Metric(Protocol):
    """Metrics of one output. Conformance: `assay.testing.check_metric`."""

    @property
    def metrics(self) -> Mapping[str, tuple[str, Direction]]:
        """Of each metric that it gives its unit ("" for a pure number), and which way is worse: "up", "down", or "both" (away
        from 1)."""
        ...

    def __call__(self, actual: Tensor, expected: Tensor, contract: Contract) -> Mapping[str, float]:
        """Those of `metrics` by name; NaN where the metric has no meaning for these arrays. Never raises on empty, 0-d, NaN, infinity."""
        ...
