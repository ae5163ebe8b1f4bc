"""The compiled pass over float32 (`pairs.c`), where the installation has one: the metrics of the numpy pass, sooner."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from assay.numerics.accumulator import WORST
from assay.numerics.error_envelope import LINES, Array, Envelope

LIBRARY = Path(__file__).with_name("_pairs.so")
VERSION = 2
COLUMNS = 2048
ULP_BINS = 13
ROOM = 4096
"""Elements above the envelope that one call lists."""

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


class _Above(ctypes.Structure):
    """`Envelope` in pairs.c."""

    _fields_ = [
        ("base", ctypes.c_float * LINES),
        ("slope", ctypes.c_float * LINES),
        ("factor", ctypes.c_double),
        *((name, ctypes.c_int64) for name in ("corners", "room", "found")),
        *((name, ctypes.c_void_p) for name in ("size", "error", "index")),
    ]


@cache
def compiled_kernel() -> ctypes.CDLL | None:
    """None where it was not built, or was built from another source."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
        if library.assay_pairs_version() != VERSION:
            return None
    except (OSError, AttributeError):
        return None
    number, real, pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
    library.assay_pairs_float32.argtypes = [pointer, pointer, number, *[real] * 5, *[pointer] * 4]
    library.assay_survey_float32.argtypes = [pointer, number, pointer]
    return library


def suits(*arrays: np.ndarray[Any, Any]) -> bool:
    """Whether these (equally long, flat) arrays can go through the compiled pass."""
    ours = all(array.dtype == np.float32 and array.flags.c_contiguous and array.flags.aligned for array in arrays)
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
    envelope: Envelope | None = None,
) -> tuple[Seen, Array | None] | None:
    """One pass. Adds to `columns` (COLUMNS, by the leading bits of the error) and `ulps` (ULP_BINS). `bar` is the budget
    an element must use more of to be among the worst, `known` the largest absolute and relative errors so far.

    Also the places above the `envelope`; None where there are more than ROOM. None, and nothing added, where a difference is not
    finite. Releases the interpreter's lock.
    """
    seen, above = Seen(), _above(envelope)
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
        None if above is None else ctypes.addressof(above[0]),
    )
    if undone:
        return None
    if above is None:
        return seen, np.empty(0, np.int64)
    return seen, above[1][: above[0].found] if above[0].found <= ROOM else None


def _above(envelope: Envelope | None) -> tuple[_Above, Array] | None:
    if envelope is None:
        return None
    room = np.empty(ROOM, np.int64)
    bases, slopes = (line.tolist() for line in envelope.lines())
    size, error = (np.ascontiguousarray(array) for array in (envelope.size, envelope.error))
    envelope_call = _Above(
        (ctypes.c_float * LINES)(*bases),
        (ctypes.c_float * LINES)(*slopes),
        1.0 + envelope.slack,
        size.size,
        ROOM,
        0,
        size.ctypes.data,
        error.ctypes.data,
        room.ctypes.data,
    )
    envelope_call.kept = (size, error)  # for as long as the pass reads them
    return envelope_call, room


def survey(values: Narrow) -> tuple[float, float, float] | None:
    """Lowest, highest, sum of squares; None where a value is not finite."""
    sums = np.empty(3)
    compiled = compiled_kernel()
    assert compiled is not None
    if compiled.assay_survey_float32(values.ctypes.data, values.size, sums.ctypes.data):
        return None
    return float(sums[0]), float(sums[1]), float(sums[2])
