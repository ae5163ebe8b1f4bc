"""Numbers that are stored in a field wider than their element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx import TensorProto


def outside(tensor: TensorProto, field: str, code: str, bits: int) -> tuple[str, int] | None:
    """A stored number that the element type does not have, a byte or a number; None where all are fine. Smaller types are stored in
    int32_data and uint64_data as numbers (bits of float16 and of packed types among them), truth in one byte."""
    if field == "raw_data" and code == "BOOL":
        bad = sorted(set(tensor.raw_data) - {0, 1})
        return ("byte", bad[0]) if bad else None
    if field == "int32_data" and code != "INT32":
        signed = code.startswith("INT") and bits >= 8
        width = 1 if code == "BOOL" else max(bits, 8)
        # Two packed signed values may be written as a signed byte.
        low = -(2 ** (width - 1)) if signed or bits < 8 else 0
        high = 2 ** (width - 1) - 1 if signed else 2**width - 1
        found = np.asarray(tensor.int32_data, np.int64)
    elif field == "uint64_data" and code == "UINT32":
        low, high, found = 0, 2**32 - 1, np.asarray(tensor.uint64_data, np.uint64)
    else:
        return None
    bad_ones = found[(found < low) | (found > high)]
    return ("number", int(bad_ones[0])) if bad_ones.size else None
