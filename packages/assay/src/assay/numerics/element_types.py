"""Which elements can be compared, and in which arithmetic."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from assay.core.dtype import dtype_name, is_floating, numpy_dtype
from assay.ports import Tensor

_SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")


class ComputeType(enum.Enum):
    """The arithmetic of a comparison. NARROW: every value is a float32 exactly; WIDE: float64; NONE: refused."""

    NARROW = "narrow"
    WIDE = "wide"
    INTEGER = "integer"
    TEXT = "text"
    NONE = "none"


def is_integer(dtype: np.dtype[Any]) -> bool:
    """True for whole numbers and bool, the sub-byte ones of ml_dtypes included."""
    return dtype.kind in "biu" or dtype.name in _SMALL_INTEGERS


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    return is_floating(dtype.name) and dtype != np.float64


def compute_type_of(actual: Sequence[Tensor], expected: Sequence[Tensor]) -> ComputeType:
    """The lane in which all these (real) tensors can be compared without losing a bit of any, as far as float64 can."""
    dtypes = {tensor.dtype for tensor in (*actual, *expected)}
    if all(dtype_name(dtype) == "string" for dtype in dtypes):
        return ComputeType.TEXT
    if all(is_integer(dtype) for dtype in dtypes):
        mixed = np.dtype(np.uint64) in dtypes and len(dtypes) > 1
        return ComputeType.WIDE if mixed else ComputeType.INTEGER
    if all(_is_narrow(dtype) for dtype in dtypes):
        return ComputeType.NARROW
    if all(is_integer(dtype) or is_floating(dtype.name) for dtype in dtypes):
        return ComputeType.WIDE
    return ComputeType.NONE


def as_real(tensor: Tensor) -> Tensor:
    """Complex numbers as pairs in one more axis at the end (0 real, 1 imaginary); everything else as it is."""
    if tensor.dtype.kind != "c" or tensor.dtype.name not in ("complex64", "complex128"):
        return tensor
    part = np.float32 if tensor.dtype == np.complex64 else np.float64
    return np.ascontiguousarray(tensor).reshape(-1).view(part).reshape(*tensor.shape, 2)


def real_name(dtype: str) -> str:
    """The type of the parts of a complex type; any other name as it is."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def smallest_normal(dtype: str) -> float:
    """Of a floating type: what lies below it has fewer digits, or none. 0 for others."""
    info: Any = ml_dtypes.finfo(numpy_dtype(dtype)) if is_floating(dtype) else None  # type: ignore[no-untyped-call]
    return float(info.smallest_normal) if info else 0.0


def extremes(dtype: str) -> tuple[float, float]:
    """The lowest and the highest finite value of a numeric type, as float64."""
    if is_floating(dtype):
        info: Any = ml_dtypes.finfo(numpy_dtype(dtype))  # type: ignore[no-untyped-call]
        return float(info.min), float(info.max)
    if dtype == "bool":
        return 0.0, 1.0
    whole: Any = ml_dtypes.iinfo(numpy_dtype(dtype))  # type: ignore[no-untyped-call]
    return float(whole.min), float(whole.max)
