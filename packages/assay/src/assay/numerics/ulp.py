"""Distances in units in the last place: how many representable values lie between two floating-point numbers.

Adjacent numbers of one sign have adjacent bit patterns; across zero the magnitudes add up, so that +0 and -0 are the
same (Dawson, Comparing Floating Point Numbers, 2012). Exact for every type of ml_dtypes: nothing is rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.ports import Tensor

ULP_EDGES = (0, 1, 2, 5, 17, 65, 257, 1025, 4097, 16385, 65537, 262145, 1048577, 2**64)
"""Bins 0, 1, 2 to 4, 5 to 16, 17 to 64 ... : each edge is the first distance of its bin."""

_FEW = 32
"""Gathering what is left over pays once it is less than one in so many."""

_LAST = [edge - 1 for edge in ULP_EDGES[1:-1]]


def distance(actual: Tensor, expected: Tensor) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The distance of each pair of finite numbers of one floating type. Flat arrays of equal length."""
    bits = 4 if actual.dtype.name == "float4_e2m1fn" else actual.dtype.itemsize * 8
    unsigned = np.dtype(f"u{actual.dtype.itemsize}")
    sign = np.uint64(1 << (bits - 1))
    left = np.ascontiguousarray(actual).view(unsigned).astype(np.uint64)
    right = np.ascontiguousarray(expected).view(unsigned).astype(np.uint64)
    opposite = ((left ^ right) & sign) != 0
    left &= sign - np.uint64(1)
    right &= sign - np.uint64(1)
    apart = np.maximum(left, right) - np.minimum(left, right)
    return np.where(opposite, left + right, apart)


def count(distances: Tensor) -> Tensor:
    """Counts by ULP_EDGES. Each step looks only at what the last one left over, once little is left."""
    above = [distances.size]
    for last in _LAST:
        beyond = distances > distances.dtype.type(last)
        above.append(int(np.count_nonzero(beyond)))
        if above[-1] * _FEW < distances.size:
            distances = distances[np.flatnonzero(beyond)]
            if not distances.size:
                break
    above += [0] * (len(ULP_EDGES) - len(above))
    return -np.diff(np.array(above, np.int64))
