"""Weights of few bits in blocks, and a product with them whose other side may be rounded to eight bits (ONNX Runtime,
ContribOperators.md, MatMulNBits and MatMulBnb4)."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.numerics.attributes import stated
from assay.numerics.oracle.hooks import Call, Values
from assay.ports import Tensor

OPERATOR = "MatMulNBits"
COARSE = 4
"""The accuracy level at which the other side may be rounded to eight bits, block by block."""
_LEVELS = 127
_HALF = (0.0, 0.0625 / 12, 8 / 12, 1.0, 4 / 12, 6 / 12, 2 / 12, 3 / 12)
_FOUR_BIT_FLOATS = (
    (*_HALF, *(-number for number in _HALF)),
    (
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
        -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ),
)  # fmt: skip
"""FP4, whose highest bit is the sign, and NF4, quantiles of the normal distribution (bitsandbytes; Dettmers et al. 2023, QLoRA,
arXiv:2305.14314, appendix E)."""


def unpacked(
    packed: Tensor, scales: Tensor, zeros: Tensor | None, group: Tensor | None, attributes: Mapping[str, Any]
) -> Tensor:
    """B as (N, K) real numbers of the type of `scales`: blocks of `block_size` along K, each with a scale and a zero point (the middle
    where there is none). Numbers lie one behind the other from the lowest bits on."""
    rows, columns, length = attributes["N"], attributes["K"], attributes["block_size"]
    bits = stated(attributes, "bits", 4)
    blocks = -(-columns // length)
    whole = numbers_of(packed.reshape(rows, -1), bits)[:, : blocks * length]
    if zeros is None:
        zeros = np.full((rows, blocks), 2 ** (bits - 1))
    elif zeros.dtype == np.uint8:
        zeros = numbers_of(zeros.reshape(rows, -1), bits)[:, :blocks]
    else:
        zeros = zeros.reshape(rows, blocks)
    of_block = np.arange(blocks * length) // length if group is None else group[: blocks * length].astype(np.int64)
    off = whole.astype(scales.dtype) - zeros.astype(scales.dtype)[:, of_block]
    return np.asarray((off * scales.reshape(rows, blocks)[:, of_block])[:, :columns])


def numbers_of(packed: Tensor, bits: int) -> Tensor:
    """Rows of bytes as rows of numbers of so many bits."""
    singles = np.unpackbits(packed.astype(np.uint8), axis=1, bitorder="little")
    singles = singles[:, : singles.shape[1] // bits * bits].reshape(len(packed), -1, bits)
    return np.asarray(singles @ (1 << np.arange(bits)))


def four_bit_floats(packed: Tensor, scales: Tensor, size: tuple[int, int], length: int, kind: int) -> Tensor:
    """Rows and columns of `size`, of the type of `scales`: two numbers a byte, the one in the higher bits first, and one scale for
    each `length` numbers as they lie one behind the other."""
    count = size[0] * size[1]
    bytes_ = packed.reshape(-1).astype(np.uint8)
    codes = np.stack([bytes_ >> 4, bytes_ & 15], axis=1).reshape(-1)[:count]
    table = np.asarray(_FOUR_BIT_FLOATS[kind], np.float32).astype(scales.dtype)
    whole = table[codes] * np.repeat(scales.reshape(-1), length)[:count]
    return np.asarray(whole.reshape(size))


def coarse_product(call: Call) -> Values | None:
    """The product itself; what rounding each block of the other side to a grid of its own leaves is marked."""
    x, packed, scales, zeros, group, bias = (call.input(at) for at in range(6))
    weights = unpacked(packed, scales.astype(x.dtype), zeros, group, call.attributes).T
    product = call.mark("sum", x @ weights, terms=len(weights), squares=lambda: (x * x) @ (weights * weights))
    if call.attributes.get("accuracy_level") == COARSE:
        steps = _steps(x, call.attributes["block_size"])
        product = call.mark("left_out", product, error=np.sqrt((steps * steps / 12) @ (weights * weights)))
    return (product if bias is None else call.mark("output", product + bias),)


def _steps(x: Tensor, length: int) -> Tensor:
    """For each element the step of the grid of its block, symmetric around zero."""
    columns = x.shape[-1]
    starts = np.arange(0, columns, length)
    largest = np.maximum.reduceat(np.abs(x), starts, axis=-1)
    return np.repeat(largest / _LEVELS, length, axis=-1)[..., :columns]
