"""Four-bit integers two a byte, low half first: how ONNX, ONNX Runtime and OpenVINO keep them in memory."""

from __future__ import annotations

import numpy as np

from assay.core.dtype import numpy_dtype
from assay.ports import Tensor

FOUR_BIT = ("int4", "uint4")


def pack(array: Tensor) -> Tensor:
    """uint8, ceil(size / 2) of them; the last high half is 0 where the count is odd."""
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.astype(np.int8).reshape(-1).view(np.uint8) & 0xF
    return halves[0::2] | (halves[1::2] << 4)


def unpack(raw: Tensor, name: str, shape: tuple[int, ...]) -> Tensor:
    """int4 or uint4 (dtypes of ml_dtypes) of that shape."""
    count = int(np.prod(shape, dtype=np.int64))
    halves = np.stack([raw & 0xF, raw >> 4], axis=-1).reshape(-1)[:count].astype(np.int8)
    signed = np.where(halves > 7, halves - 16, halves) if name == "int4" else halves
    return signed.astype(numpy_dtype(name)).reshape(shape)
