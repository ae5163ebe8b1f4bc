"""Whether two evaluations of one case say the same: shapes, dtypes, values, and what is no number."""

from __future__ import annotations

from typing import Any

import numpy as np

EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
FACTOR = 64.0
"""Units of roundoff at the level of the largest element; sums here have at most a few dozen terms."""


def difference(
    mine: Any, theirs: Any, *, dtype: bool = True, precision: str = "", only_kind: bool = False, level: float = 0.0
) -> str:
    """ "" where they agree. `precision` is the coarser type of the two; `only_kind` compares dtype and shape alone; `level` is how large
    what was summed is."""
    if isinstance(mine, list | tuple) or isinstance(theirs, list | tuple):
        return _lists(mine, theirs, dtype=dtype, precision=precision, only_kind=only_kind, level=level)
    if mine is None or theirs is None or isinstance(mine, dict) or isinstance(theirs, dict):
        return "" if mine is theirs or mine == theirs else f"{mine!r:.60} and {theirs!r:.60}"
    a, b = np.asarray(mine), np.asarray(theirs)
    if dtype and a.dtype != b.dtype and not (a.dtype.kind in "OUT" and b.dtype.kind in "OUT"):
        return f"dtype {a.dtype} where {b.dtype}"
    if a.shape != b.shape:
        return f"shape {list(a.shape)} where {list(b.shape)}"
    return "" if only_kind or not a.size else _values(a, b, precision, level)


def _lists(mine: Any, theirs: Any, **options: Any) -> str:
    if not isinstance(mine, list | tuple) or not isinstance(theirs, list | tuple):
        return f"{type(mine).__name__} where {type(theirs).__name__}"
    if len(mine) != len(theirs):
        return f"{len(mine)} values where {len(theirs)}"
    for left, other in zip(mine, theirs, strict=True):
        if difference_text := difference(left, other, **options):
            return difference_text
    return ""


def _values(a: Any, b: Any, precision: str, level: float) -> str:
    if a.dtype.kind in "OUT":
        same = a.astype(str) == b.astype(str)
        return "" if np.all(same) else f"text {a[~same].reshape(-1)[0]!r} where {b[~same].reshape(-1)[0]!r}"
    names = (a.dtype.name, b.dtype.name)
    if not any(name in EPSILON for name in names):
        same = a.astype(object) == b.astype(object) if "4" in names[0] or "2" in names[0] else a == b
        same = np.asarray(same) | (_is_nan(a) & _is_nan(b))
        return "" if np.all(same) else f"{a[~same].reshape(-1)[0]} where {b[~same].reshape(-1)[0]}"
    kind = max((precision, *names), key=lambda dtype: EPSILON.get(dtype, 0.0))
    x, y = a.astype(np.float64), b.astype(np.float64)
    odd = ~np.isfinite(x) | ~np.isfinite(y)
    if not np.array_equal(x[odd], y[odd], equal_nan=True):
        at = np.flatnonzero(odd & ~((x == y) | (np.isnan(x) & np.isnan(y))))[0]
        return f"{x.flat[at]} where {y.flat[at]}"
    ordinary = ~odd & (np.abs(y) < 1e25)
    level = float(np.max(np.abs(y[ordinary]), initial=level))
    allowed = FACTOR * EPSILON[kind] * np.maximum(np.abs(y), level) + 1e-30
    with np.errstate(invalid="ignore"):
        wrong = ~odd & (np.abs(x - y) > allowed)
    if not wrong.any():
        return ""
    at = int(np.argmax(np.where(wrong, np.abs(np.where(odd, 0, x - y)), -1)))
    return f"{x.flat[at]:.9g} where {y.flat[at]:.9g}"


def _is_nan(array: Any) -> Any:
    try:
        return np.isnan(array.astype(np.float32))
    except (TypeError, ValueError):
        return np.zeros(array.shape, bool)
