"""The batch size beyond which more costs more than it brings: the greatest power, throughput over latency.

Kleinrock, Power and deterministic rules of thumb for probabilistic problems in computer communications, ICC 1979. Where a call
takes a + c * batch it lies at batch = a / c: there what a call costs in any case is as much as what its items cost.
"""

from __future__ import annotations

from collections.abc import Mapping


def knee(seconds: Mapping[int, float]) -> int | None:
    """The batch size of greatest power, from seconds per call by batch size; None below three sizes, or where it is the
    largest of them: then the knee lies beyond what was measured."""
    if len(seconds) < 3 or min(seconds.values()) <= 0.0:
        return None
    power = {batch: (batch / taken) / taken for batch, taken in seconds.items()}
    best = max(sorted(power), key=power.__getitem__)
    return None if best == max(power) else best
