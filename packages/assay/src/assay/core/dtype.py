"""Element types by name, and what arithmetic in each of them can promise."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

_EXTENSION = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
}

UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-11,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4,
    "float8_e4m3fnuz": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-3,
    "float4_e2m1fn": 2.0**-2,
}
"""Half a unit in the last place at 1.0, round to nearest (Higham, Accuracy and Stability, 2.1)."""


CONTAINERS = ("sequence", "optional", "map")
"""What a value can be declared as that is no tensor: its parts have types of their own."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of that name. Raises TypeError where there is none."""
    known: np.dtype[Any] = np.dtype(_EXTENSION.get(name, name))
    return known


def is_known(dtype: np.dtype[Any]) -> bool:
    """Whether a tensor can have it: no record, no bytes without a meaning, and not C's long double, whose size depends on the machine."""
    if dtype.type in (np.longdouble, np.clongdouble):
        return False
    return dtype.kind != "V" or dtype.name in _EXTENSION


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name used in records: numpy's, with every text type called `string`."""
    return "string" if dtype.kind in "UST" or dtype.kind == "O" else dtype.name


def is_floating(name: str) -> bool:
    """True for every type with an exponent, the small ones included."""
    return name in UNIT_ROUNDOFF
