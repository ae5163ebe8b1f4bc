"""Both histograms of float32 pairs from one count: the error by its leading bits, the distance in ULP by powers of four.

Counting (np.bincount) costs more than all other arithmetic on an element, so it is done once, over a key of sixteen bits:
the row is the bin of the distance, the column the sign-free exponent and first three bits of the error. Row 0 holds the
distances 0 and 1, row k those from 4^(k-1) + 1 to 4^k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.numerics import histogram, ulp

_COLUMNS = 256 << 3
KEYS = 32 * _COLUMNS
_OFFSET = (1023 - 127) << 3
_MAGNITUDE = 0x7FFFFFFF

Narrow = np.ndarray[Any, np.dtype[np.float32]]
Keys = np.ndarray[Any, np.dtype[np.int32]]


def distances(actual: Narrow, expected: Narrow, out: Keys, scratch: Keys) -> None:
    """`ulp.distance` of finite float32 into `out`, those beyond int32 as its largest value."""
    left, right = actual.view(np.int32), expected.view(np.int32)
    np.bitwise_xor(left, right, out=scratch)
    np.subtract(left, right, out=out)
    np.abs(out, out=out)
    if scratch.min() >= 0:
        return
    # Across zero the difference of the patterns is no distance, the sum of the magnitudes is. Such pairs are few.
    across = np.flatnonzero(scratch < 0)
    total = (left[across] & _MAGNITUDE).astype(np.int64) + (right[across] & _MAGNITUDE)
    out[across] = np.minimum(total, _MAGNITUDE)


def count(error: Narrow, apart: Keys, number: Narrow, wide: np.ndarray[Any, np.dtype[np.int64]]) -> histogram.Counts:
    """Counts by key. `apart` are the distances; all but the last two buffers are overwritten with the key's parts.

    2^(2j) < apart <= 2^(2j + 2) exactly where the exponent of apart - 1/2 is 2j or 2j + 1: adding one to the exponent
    and dropping its lowest bit gives the row.
    """
    np.copyto(number, apart, casting="unsafe")
    number -= np.float32(0.5)
    bits = number.view(np.int32)
    bits += 0x01800000
    bits &= 0x1F000000
    np.right_shift(bits, 13, out=bits)
    np.right_shift(error.view(np.int32), 20, out=apart)
    bits |= apart
    np.copyto(wide, bits)
    return np.bincount(wide)


def split(keys: histogram.Counts, equal: int) -> tuple[histogram.Counts, histogram.Counts]:
    """(errors in `histogram.BINS`, distances in the bins of `ulp.ULP_EDGES`); `equal` pairs have no distance at all.

    Errors that float32 cannot normalise (below 2^-126) count as zero.
    """
    table = keys.reshape(-1, _COLUMNS)
    octaves = by_error(table.sum(axis=0))
    rows = table.sum(axis=1)
    bins = len(ulp.ULP_EDGES) - 1
    ulps = np.zeros(bins, np.int64)
    ulps[0], ulps[1] = equal, rows[0] - equal
    ulps[2:-1] = rows[1 : bins - 2]
    ulps[-1] = rows[bins - 2 :].sum()
    return octaves, ulps


def by_error(columns: histogram.Counts) -> histogram.Counts:
    """Counts by the leading bits of a float32 error, in `histogram.BINS`."""
    octaves = np.zeros(histogram.BINS, np.int64)
    octaves[0] = columns[:8].sum()
    octaves[_OFFSET + 8 : _OFFSET + _COLUMNS] = columns[8:]
    return octaves
