"""To and from whole numbers, and products of those."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from oracle_table.case import OpCase
from oracle_table.gen import Gen


def quantize(g: Gen) -> Iterator[OpCase]:
    zeros = g.dtypes(2)
    for dtype in (candidate for candidate in g.some_dtypes() if candidate.kind in "fi"):
        x = g.x(3, 4, dtype=dtype, low=-40, high=40)
        scale_type = dtype if dtype.kind == "f" else np.dtype(np.float32)
        for zero in zeros:
            scale = np.array(0.5, scale_type)
            yield g.case(x, scale, np.array(1, np.float32).astype(zero) if zero.kind in "iu" else np.zeros((), zero))
        yield g.case(x, np.array(0.5, scale_type))
    zero = zeros[0]
    if g.version >= 13:
        for axis in (0, 1, -1):
            scale = g.x((3, 4)[axis], low=0.1, high=2)
            yield g.case(g.x(3, 4, low=-40, high=40), scale, np.zeros_like(scale).astype(zero), axis=axis)
    if g.has("block_size"):
        yield g.case(g.x(3, 4, low=-40, high=40), g.x(3, 2, low=0.1), np.zeros((3, 2), zero), axis=1, block_size=2)
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1000, -1000], np.float32)
    yield g.case(halves, np.array(1, np.float32), np.array(0, np.uint8))
    yield g.case(halves, np.array(1, np.float32), np.array(10, np.int8))


def dequantize(g: Gen) -> Iterator[OpCase]:
    for dtype in g.dtypes():
        x = g.x(3, 4, dtype=dtype, low=-7, high=7) if dtype.kind in "iu" else g.x(3, 4, dtype=np.float32).astype(dtype)
        for scale_type in g.dtypes(1):
            named = (
                1 if "e8m0" in scale_type.name else None
            )  # that has no negative numbers: it cannot be the answer's type
            yield g.case(x, np.array(0.5, np.float32).astype(scale_type), output_dtype=named)
            if dtype != np.int32:
                zero = np.array(1, np.float32).astype(dtype)
                yield g.case(x, np.array(0.5, np.float32).astype(scale_type), zero, output_dtype=named)
    x = g.x(3, 4, dtype=np.uint8, low=0, high=200)
    if g.version >= 13:
        for axis in (None, 0, 1, -1):
            size = (3, 4)[1 if axis is None else axis]
            yield g.case(x, g.x(size, dtype=np.float32, low=0.1), g.x(size, dtype=np.uint8, high=100), axis=axis)
    if g.has("block_size"):
        yield g.case(x, g.x(3, 2, dtype=np.float32, low=0.1), g.x(3, 2, dtype=np.uint8, high=90), axis=1, block_size=2)


def dynamic(g: Gen) -> Iterator[OpCase]:
    for low, high in ((-3, 3), (1, 5), (-5, -1), (0, 0)):
        yield g.case(g.x(3, 4, low=low, high=high), outputs=3)


def quantized_matmul(g: Gen) -> Iterator[OpCase]:
    for kind in g.dtypes(0):
        for other in g.dtypes(3):
            a, b = g.x(2, 3, dtype=kind, low=-90, high=90), g.x(3, 4, dtype=other, low=-90, high=90)
            s = [
                np.array(number, g.dtypes(1)[0] if np.dtype(np.float32) not in g.dtypes(1) else np.float32)
                for number in (0.03, 0.02, 0.7)
            ]
            yield g.case(a, s[0], np.array(3, kind), b, s[1], np.array(1, other), s[2], np.array(2, kind))
            yield g.case(
                np.stack([a, a]), s[0], np.array(3, kind), b, s[1], np.array(1, other), s[2], np.array(2, kind)
            )
            each = g.x(4, dtype=np.float32, low=0.01, high=0.03)
            yield g.case(a, s[0], np.array(3, kind), b, each, np.zeros(4, other), s[2], np.array(2, kind))


def integer_matmul(g: Gen) -> Iterator[OpCase]:
    for kind, other in product(g.dtypes(0), g.dtypes(1)):
        a, b = g.x(2, 3, dtype=kind, low=-90, high=90), g.x(3, 4, dtype=other, low=-90, high=90)
        yield g.case(a, b)
        yield g.case(a, b, np.array(3, kind), np.array(1, other))
        yield g.case(a, b, None, np.array([1, 2, 3, 4], other))
        yield g.case(a, b, np.array([1, 2], kind))
        yield g.case(np.stack([a, a]), b, np.array(3, kind))


QUANTIZING: dict[str, Any] = {
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic,
    "QLinearMatMul": quantized_matmul,
    "MatMulInteger": integer_matmul,
}
