"""The compiled pass over float32 (`pairs.c`), where the installation has one: the figures of the numpy pass, sooner."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assay.numerics.accumulator import WORST

LIBRARY = Path(__file__).with_name("_pairs.so")
VERSION = 1
COLUMNS = 2048
ULP_BINS = 13

Narrow = np.ndarray[Any, np.dtype[np.float32]]
Counts = np.ndarray[Any, np.dtype[np.int64]]


class Seen(ctypes.Structure):
    """What the pass found; `Account` in pairs.c. The worst elements are sorted, `found` of them."""

    _fields_ = [
        *((name, ctypes.c_double) for name in ("sum_error", "squared_error", "squared_actual")),
        *((name, ctypes.c_double) for name in ("max_abs", "max_rel", "budget", "lowest", "highest")),
        ("outside", ctypes.c_int64),
        ("found", ctypes.c_int64),
        ("worst_budget", ctypes.c_double * WORST),
        ("worst_index", ctypes.c_int64 * WORST),
    ]


@cache
def compiled_kernel() -> ctypes.CDLL | None:
    """None where it was not built, or was built from another source."""
    try:
        found = ctypes.CDLL(str(LIBRARY))
        if found.assay_pairs_version() != VERSION:
            return None
    except (OSError, AttributeError):
        return None
    number, real, pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
    found.assay_pairs_float32.argtypes = [pointer, pointer, number, *[real] * 5, pointer, pointer, pointer]
    found.assay_survey_float32.argtypes = [pointer, number, pointer]
    return found


def suits(*arrays: np.ndarray[Any, Any]) -> bool:
    """Whether these (equally long, flat) arrays can go through the compiled pass."""
    ours = all(one.dtype == np.float32 and one.flags.c_contiguous and one.flags.aligned for one in arrays)
    return ours and arrays[0].size > 0 and compiled_kernel() is not None


def pairs(
    actual: Narrow,
    expected: Narrow,
    *,
    rtol: float,
    atol: float,
    bar: float,
    known: tuple[float, float],
    columns: Counts,
    ulps: Counts,
) -> Seen | None:
    """One pass. Adds to `columns` (COLUMNS, by the leading bits of the error) and `ulps` (ULP_BINS). `bar` is the budget
    an element must use more of to be among the worst, `known` the largest absolute and relative errors so far.

    None, and nothing added, where a difference is not finite. Releases the interpreter's lock.
    """
    seen = Seen()
    compiled = compiled_kernel()
    assert compiled is not None
    undone = compiled.assay_pairs_float32(
        actual.ctypes.data,
        expected.ctypes.data,
        actual.size,
        rtol,
        atol,
        bar,
        *known,
        ctypes.addressof(seen),
        columns.ctypes.data,
        ulps.ctypes.data,
    )
    return None if undone else seen


def survey(values: Narrow) -> tuple[float, float, float] | None:
    """Lowest, highest, sum of squares; None where a value is not finite."""
    seen = np.empty(3)
    compiled = compiled_kernel()
    assert compiled is not None
    if compiled.assay_survey_float32(values.ctypes.data, values.size, seen.ctypes.data):
        return None
    return float(seen[0]), float(seen[1]), float(seen[2])
