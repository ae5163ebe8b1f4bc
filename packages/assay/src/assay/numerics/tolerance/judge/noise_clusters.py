"""Elements whose noise is of one order, which are judged together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from assay.ports import Tensor

GAP = 1024.0
FEW = 8
Wide = np.ndarray[Any, np.dtype[np.float64]]


def clusters(allowed: Wide, noisy: Tensor) -> list[Any]:
    """Masks of the elements whose noise is of one order, the quietest first; one of all where there is no gap.

    A masked score of -1e9 errs by 60, its neighbours by 1e-7: judged together, nothing would be seen of the neighbours.
    A gap is GAP in the standard deviation, with FEW elements at least on both sides; an element without noise of its own
    (a value that was clipped in every draw) belongs to the quietest.
    """
    loud = allowed[noisy]
    few = max(FEW, allowed.size // 100)
    if loud.size < 2 * few or np.ptp(np.log2([loud.min(), loud.max()]) / 2) <= math.log2(GAP):
        return [np.ones(allowed.size, bool)]
    levels = np.log2(loud) / 2
    ordered = np.sort(levels)
    gaps = np.flatnonzero(np.diff(ordered) > math.log2(GAP)) + 1
    edges: list[float] = []
    before = 0
    for place in (int(gap) for gap in gaps):
        if place - before >= few and levels.size - place >= few:
            edges.append((ordered[place - 1] + ordered[place]) / 2)
            before = place
    if not edges:
        return [np.ones(allowed.size, bool)]
    labels = np.zeros(allowed.size, int)
    labels[noisy] = np.searchsorted(edges, levels)
    return [labels == label for label in range(len(edges) + 1)]
