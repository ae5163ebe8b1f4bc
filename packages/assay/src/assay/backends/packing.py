"""Integers of two and four bits, four and two a byte, the lowest bits first: how ONNX, ONNX Runtime and OpenVINO keep
them in memory."""

from __future__ import annotations

import numpy as np

from assay.core.dtype import numpy_dtype
from assay.ports import Tensor

FOUR_BIT = ("int4", "uint4")
BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}
"""Of the types that share a byte."""


def packed_bytes(count: int, name: str) -> int:
    """How many bytes hold `count` elements."""
    return -(-count * BITS[name] // 8)


def pack(array: Tensor) -> Tensor:
    """uint8; the bits after the last element are 0."""
    bits = BITS[array.dtype.name]
    per_byte = 8 // bits
    parts = np.zeros(packed_bytes(array.size, array.dtype.name) * per_byte, np.uint8)
    parts[: array.size] = array.astype(np.int8).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    packed = np.zeros(parts.size // per_byte, np.uint8)
    for place in range(per_byte):
        packed |= parts[place::per_byte] << (place * bits)
    return packed


def unpack(raw: Tensor, name: str, shape: tuple[int, ...]) -> Tensor:
    """The elements of that type (a dtype of ml_dtypes) and shape."""
    bits = BITS[name]
    count = int(np.prod(shape, dtype=np.int64))
    places = np.arange(0, 8, bits, dtype=np.uint8)
    parts = ((raw[:, None] >> places) & ((1 << bits) - 1)).reshape(-1)[:count].astype(np.int8)
    half = 1 << (bits - 1)
    signed = np.where(parts >= half, parts - 2 * half, parts) if name.startswith("int") else parts
    return signed.astype(numpy_dtype(name)).reshape(shape)
