"""The tolerance a user chooses by name: derived, or one of the tables that other tools use."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from assay.core.case import Contract, Tolerance
from assay.core.comparison import Comparison
from assay.core.dtype import UNIT_ROUNDOFF, is_floating
from assay.core.note import Note, NoteCode, noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import UsageError
from assay.numerics.tolerance.default import ALL, all_of_type
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


NORM_WISE = 32.0
"""Units of eps (two roundoffs) of the norm."""


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
        rtol, atol = (float(part) for part in numbers.split(","))
    except ValueError:
        rtol = atol = -1.0
    if name != "fixed" or not separator or not 0 <= rtol < float("inf") or not 0 <= atol < float("inf"):
        raise UsageError(noted(UsageCode.NO_TOLERANCE_TABLE, tolerance=choice, choices=CHOICES))
    return Tolerance(rtol, atol)


def with_table(contract: Contract) -> Contract:
    """With the limits that the chosen table stands for, by type where it has some for each, for outputs without limits of their own.
    Raises UsageError as `table_of`."""
    table = table_of(contract.tolerance)
    if table is None or ALL in contract.tolerances:
        return contract
    by_type = (
        {all_of_type(dtype): Tolerance(*row) for dtype, row in TORCH.items()} if contract.tolerance == "torch" else {}
    )
    return msgspec.structs.replace(contract, tolerances={ALL: table, **by_type, **contract.tolerances})


def coarse(compared: Comparison, contract: Contract) -> Note | None:
    """Of an output that passes a fixed tolerance and is further off than its type explains; None else.

    Measured norm-wise error of correct kernels on ONNX's node cases: below 5 eps at the 99th percentile, and inputs rounded to
    tf32 are beyond 32 eps in 99.5 % of them.
    """
    limits = contract.tolerances.get(compared.output) or contract.tolerances.get("*")
    kept = contract.precision in ("float32", "float64") and compared.dtype in ("float32", "float64")
    error = compared.metrics.get("rel_l2", 0.0)
    if limits is None or not kept or compared.findings or compared.degenerate:
        return None
    units = error / (2.0 * UNIT_ROUNDOFF[max(contract.precision, compared.dtype, key=UNIT_ROUNDOFF.__getitem__)])
    if not units > NORM_WISE:
        return None
    torch, onnx = (compared.metrics.get(f"share_out_of_{name}", 0.0) for name in ("torch", "onnx"))
    return noted(
        NoteCode.PASSES_COARSELY, output=compared.output, units=units, dtype=compared.dtype, torch=torch, onnx=onnx
    )


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
