"""Attention and what goes with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import flag, form

_FLOATS = ("float32", "float16")


@form("Attention")
def attention(build: Build, operator: str) -> list[Operand]:
    """Heads as an axis or within the last one, keys in groups, what was computed before, and the scores as an output."""
    draws = build.draws
    dtype = build.dtype(operator, among=_FLOATS)
    batch, heads, groups, width = draws.between(1, 2), draws.between(1, 2), draws.between(1, 2), draws.one_of((2, 4, 8))
    queries, keys, past = draws.between(1, 4), draws.between(1, 5), draws.between(1, 3) if draws.chance(30) else 0
    deep = draws.one_of((width, width, 3))
    attributes: dict[str, Any] = {
        "is_causal": flag(build),
        "scale": draws.one_of((None, 0.5)),
        "softcap": draws.one_of((None, None, 2.0)),
    }

    def operand(count: int, length: int, size: int, packed: bool) -> Operand:
        return build.operand(dtype, (batch, length, count * size) if packed else (batch, count, length, size))

    packed = draws.chance(40)
    if packed:
        attributes |= {"q_num_heads": heads * groups, "kv_num_heads": heads}
    reads: list[Operand | None] = [operand(heads * groups, queries, width, packed)]
    reads += [operand(heads, keys, size, packed) for size in (width, deep)]
    # A row that is masked whole has no answer: the first key is left to each, and masks of numbers hide nothing.
    if draws.chance(40):
        shape = draws.one_of(((queries, keys + past), (1, 1, queries, keys + past), (batch, 1, queries, keys + past)))
        if draws.chance(50):
            reads.append(build.operand(dtype, shape))
        else:
            mask = draws.wholes(shape, 0, 1).astype(np.bool_)
            mask[..., 0] = True
            reads.append(build.input(mask) if draws.chance(50) else build.constant(mask))
    outputs = 1
    if past:
        reads += [None] * (4 - len(reads))
        reads += [operand(heads, past, size, False) for size in (width, deep)]
        outputs = 3
    if draws.chance(30) and not attributes["is_causal"]:
        outputs = 4 if past else 1
        attributes["qk_matmul_output_mode"] = draws.between(0, 3) if past else None
    return build.node(operator, reads, outputs, **attributes)


@form("RotaryEmbedding")
def rotary(build: Build, operator: str) -> list[Operand]:
    """Of all of a head or of its beginning; heads as an axis or within the last one; positions, or a row of the tables for each."""
    draws = build.draws
    dtype = build.dtype(operator, among=_FLOATS)
    half, length, batch, heads = draws.between(1, 4), draws.between(1, 4), draws.between(1, 2), draws.between(1, 3)
    rest = 2 * draws.between(1, 2) if draws.chance(30) else 0
    size = 2 * half + rest
    packed = draws.chance(35)
    x = build.operand(dtype, (batch, length, heads * size) if packed else (batch, heads, length, size))
    where = build.input(draws.wholes((batch, length), 0, 7)) if draws.chance(65) else None
    shape = (8, half) if where is not None else (batch, length, half)
    tables = [build.operand(dtype, shape, low=-1, high=1, fixed=70) for _ in range(2)]
    return build.node(
        operator, [x, *tables, *([where] if where is not None else [])], interleaved=flag(build),
        num_heads=heads if packed else None, rotary_embedding_dim=2 * half if rest else None,
    )  # fmt: skip


@form("TensorScatter")
def tensor_scatter(build: Build, operator: str) -> list[Operand]:
    """A cache that takes some rows, at a place for each sample."""
    draws = build.draws
    dtype = build.dtype(operator, among=(*_FLOATS, "int64", "uint8"))
    batch, length, new = draws.between(1, 3), draws.between(3, 6), draws.between(1, 3)
    rest = [draws.between(1, 3) for _ in range(draws.between(1, 2))]
    axis = draws.between(1, len(rest))
    shape = [batch, *rest]
    shape.insert(axis, length)
    update = [*shape]
    update[axis] = new
    circular = draws.chance(40)
    starts = draws.wholes((batch,), 0, length - 1 if circular else length - new)
    reads = [build.operand(dtype, shape), build.operand(dtype, update)]
    if draws.chance(80):
        reads.append(build.input(starts))
    written_axis = axis - len(shape) if draws.chance(50) else axis
    return build.node(
        operator, reads, axis=written_axis, mode="circular" if circular else draws.one_of((None, "linear"))
    )
