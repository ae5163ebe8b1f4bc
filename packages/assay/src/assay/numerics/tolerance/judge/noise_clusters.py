"""Elements whose noise is of one order, which are judged together."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from assay.ports import Tensor

GAP = 1024.0
FEW = 8
BAND = 10.0
"""Octaves of the standard deviation."""
EDGE = 1.0
"""Of the variance at the upper edge of a band, which each of its elements may have as well: eight draws make of a loud element a quiet
one by luck, and the few of a slice may share one error."""
Wide = np.ndarray[Any, np.dtype[np.float64]]


def clusters(allowed: Wide, noisy: Tensor, *, smooth: bool = True) -> list[tuple[Any, float]]:
    """Masks of the elements whose noise is of one order, the quietest first, each with the variance that is allowed to them as well; one of
    all where it is of one order everywhere.

    A masked score of -1e9 errs by 60, its neighbours by 1e-7: judged together, nothing would be seen of the neighbours.
    A gap is GAP in the standard deviation, with FEW elements at least on both sides; an element without noise of its own
    (a value that was clipped in every draw) belongs to the quietest.

    Where noise without a gap has a range of more than BAND and a half (probabilities, powers of a spectrum), each BAND is
    judged by itself, from the loudest on; what has no noise of its own belongs to the loudest of the quietest. Not where
    values jump (`smooth`).
    """
    loud = allowed[noisy]
    few = max(FEW, allowed.size // 100)
    if loud.size < 2 * few or np.ptp(np.log2([loud.min(), loud.max()]) / 2) <= math.log2(GAP):
        return [(np.ones(allowed.size, bool), 0.0)]
    levels = np.log2(loud) / 2
    ordered = np.sort(levels)
    gaps = _gaps(ordered, few)
    parts = np.split(ordered, np.searchsorted(ordered, gaps))
    bands = [_bands(part, few) if smooth else [] for part in parts]
    edges = sorted([*gaps, *itertools.chain(*bands)])
    if not edges:
        return [(np.ones(allowed.size, bool), 0.0)]
    labels = np.full(allowed.size, len(bands[0]))
    labels[noisy] = np.searchsorted(edges, levels)
    margins = [0.0 if edge in gaps else EDGE * 4.0**edge for edge in edges]
    return [(labels == label, margin) for label, margin in enumerate([*margins, 0.0])]


def _gaps(ordered: Wide, few: int) -> list[float]:
    edges: list[float] = []
    before = 0
    for place in (int(gap) for gap in np.flatnonzero(np.diff(ordered) > math.log2(GAP)) + 1):
        if place - before >= few and ordered.size - place >= few:
            edges.append((ordered[place - 1] + ordered[place]) / 2)
            before = place
    return edges


def _bands(ordered: Wide, few: int) -> list[float]:
    """The loudest `few` are of the first band, however far they reach."""
    edges: list[float] = []
    lowest, end = float(ordered[few - 1]), ordered.size
    while end >= 2 * few and (highest := float(ordered[end - few])) - lowest > 1.5 * BAND:
        edges.append(highest - BAND)
        end = int(np.searchsorted(ordered, edges[-1]))
    return edges[::-1] if end < ordered.size else []
