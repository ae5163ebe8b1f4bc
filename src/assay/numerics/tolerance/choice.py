"""The tolerance a user chooses by name: derived, or one of the tables that other tools use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.case import Tolerance
from assay.core.dtype import is_floating
from assay.errors import UsageError
from assay.ports import Tensor

DERIVED = "derived"
CHOICES = "derived, default, torch, onnx, fixed:RTOL,ATOL"
ONNX = (1e-3, 1e-7)
"""What the standard's node tests allow, whatever the type."""
TORCH = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""torch.testing.assert_close, by the type of the output."""


def table_of(choice: str, dtype: str = "float32") -> Tolerance | None:
    """The limits that a choice stands for; None for `derived` and `default`, which are no table.

    Raises UsageError for anything else.
    """
    if choice in (DERIVED, "default"):
        return None
    if choice == "onnx":
        return Tolerance(*ONNX)
    if choice == "torch":
        return Tolerance(*TORCH.get(dtype, TORCH["float32"]))
    name, separator, numbers = choice.partition(":")
    try:
        rtol, atol = (float(one) for one in numbers.split(","))
    except ValueError:
        rtol = atol = -1.0
    if name != "fixed" or not separator or not 0 <= rtol < float("inf") or not 0 <= atol < float("inf"):
        raise UsageError(f"tolerance {choice!r} is none of {CHOICES}; write for example fixed:1e-3,1e-5")
    return Tolerance(rtol, atol)


def share_out(pairs: Sequence[tuple[Tensor, Tensor]], dtype: str) -> dict[str, float]:
    """The share of elements that torch's and ONNX's tables would fail, as `share_out_of_torch` and `share_out_of_onnx`.

    Empty where there is nothing real to compare. NaN equals NaN.
    """
    usable = [
        (a, b) for a, b in pairs if a.shape == b.shape and is_floating(b.dtype.name) and is_floating(a.dtype.name)
    ]
    total = sum(a.size for a, _ in usable)
    if not total:
        return {}
    tables = {"torch": TORCH.get(dtype, TORCH["float32"]), "onnx": ONNX}
    out = dict.fromkeys(tables, 0)
    for mine, theirs in usable:
        left, right = mine.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(all="ignore"):
            apart = np.abs(left - right)
            same = (left == right) | ((left != left) & (right != right))
            for name, (rtol, atol) in tables.items():
                out[name] += int(np.count_nonzero(~((apart <= atol + rtol * np.abs(right)) | same)))
    return {f"share_out_of_{name}": count / total for name, count in out.items()}
