"""What picks and puts elements by indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from oracle_table.case import Array, OpCase
from oracle_table.gen import Gen, ints, one_int


def gather(g: Gen) -> Iterator[OpCase]:
    name, negative = g.schema.name, g.version >= 11
    for axis in (None, 0, 1, 2, -1, -2) if negative else (None, 0, 1):
        place = 0 if axis is None else axis
        x = g.x(3, 4, 5)
        size = x.shape[place]
        low = -size if negative else 0
        shapes: tuple[tuple[int, ...], ...] = (
            ((2,), (2, 3), (), (0,)) if name == "Gather" else ((2, 3, 2), (3, 4, 5), (1, 1, 1))
        )
        for shape in shapes:
            for kind in (np.int64, np.int32):
                yield g.case(x, np.asarray(g.rng.integers(low, size, shape)).astype(kind), axis=axis)
    for dtype in g.dtypes():
        yield g.case(g.x(3, 2, dtype=dtype), ints(2, 0) if name == "Gather" else ints(2, 0).reshape(2, 1), axis=0)


def gather_nd(g: Gen) -> Iterator[OpCase]:
    for batch in (None, 1):
        if batch and not g.has("batch_dims"):
            continue
        for last in (1, 2):
            shape = (2, 3, last) if batch else (4, last)
            low = -2 if g.version >= 12 else 0
            yield g.case(g.x(2, 3, 4), g.rng.integers(low, 2, shape), batch_dims=batch)
    yield g.case(g.x(2, 3, 4), g.rng.integers(0, 2, (2, 2, 3)))
    for dtype in g.dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), ints(1, 0).reshape(1, 2))


def scatter(g: Gen) -> Iterator[OpCase]:
    for axis in (None, 0, 1, -1):
        if axis is not None and axis < 0 and g.version < 11:
            continue
        for reduction in (
            None,
            *(("add", "mul") if g.version >= 16 else ()),
            *(("max", "min") if g.version >= 18 else ()),
        ):
            place = 0 if axis is None else axis
            x = g.x(3, 4, 5)
            shape = [2, 3, 2]
            order = g.rng.permuted(np.broadcast_to(np.arange(x.shape[place]), (2, 3, 2, x.shape[place])), axis=-1)
            picked = np.moveaxis(order, -1, place)
            picked = np.take(picked, 0, place + 1 if place >= 0 else place - 1)
            index = np.asarray(g.rng.integers(0, 3, shape)) if reduction else _distinct(g, shape, place, x.shape[place])
            if g.version >= 11:
                index = np.where(g.rng.random(index.shape) < 0.3, index - x.shape[place], index)
            del picked
            yield g.case(x, index, g.x(*shape), axis=axis, reduction=reduction)
    for dtype in g.dtypes():
        yield g.case(g.x(3, 2, dtype=dtype), ints(2, 0).reshape(2, 1), g.x(2, 1, dtype=dtype))


def _distinct(g: Gen, shape: list[int], axis: int, size: int) -> Array:
    """No place is written twice."""
    axis = axis % len(shape)
    moved = [n for at, n in enumerate(shape) if at != axis]
    rows = np.stack([g.rng.permutation(size)[: shape[axis]] for _ in range(int(np.prod(moved)))])
    return np.moveaxis(rows.reshape(*moved, shape[axis]), -1, axis).astype(np.int64)


def scatter_nd(g: Gen) -> Iterator[OpCase]:
    for reduction in (None, *(("add", "mul") if g.version >= 16 else ()), *(("max", "min") if g.version >= 18 else ())):
        yield g.case(g.x(4, 3, 2), ints(3, 0).reshape(2, 1), g.x(2, 3, 2), reduction=reduction)
        yield g.case(g.x(4, 3, 2), ints(3, 0, -1, 2).reshape(2, 2), g.x(2, 2), reduction=reduction)
        if reduction:
            yield g.case(g.x(4, 3), ints(1, 1, 2).reshape(3, 1), g.x(3, 3), reduction=reduction)
    for dtype in g.dtypes():
        yield g.case(g.x(3, 2, dtype=dtype), ints(2).reshape(1, 1), g.x(1, 2, dtype=dtype))


def tensor_scatter(g: Gen) -> Iterator[OpCase]:
    for mode in (None, "circular"):
        for axis in (None, 1):
            cache = g.x(2, 4, 3) if axis == 1 else g.x(2, 2, 4, 3)
            update = g.x(2, 1, 3) if axis == 1 else g.x(2, 2, 1, 3)
            yield g.case(cache, update, ints(1, 3), mode=mode, axis=axis)
            yield g.case(cache, update, mode=mode, axis=axis)


def one_hot(g: Gen) -> Iterator[OpCase]:
    for axis in (None, 0, 1, -1, -2):
        for shape in ((3,), (2, 3)):
            yield g.case(g.rng.integers(-4, 4, shape), one_int(4), np.array([0.5, 2], np.float32), axis=axis)
    yield g.case(ints(0, 5, -6), one_int(4), np.array([0, 1], np.int64))
    yield g.case(np.array([0, 2], np.float32), np.array([3], np.float32), np.array([0, 1], np.float32))
    yield g.case(np.array(1, np.int64), one_int(3), np.array([0, 1], np.float32))


def picking(g: Gen) -> Iterator[OpCase]:
    """Compress."""
    for axis in (None, 0, 1, -1):
        if axis is None or axis >= 0 or g.version >= 11:
            yield g.case(g.x(3, 4), np.array([False, True, True]), axis=axis)
            yield g.case(g.x(3, 4), np.array([False, False]), axis=axis)
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 2, dtype=dtype), np.array([True, False, True]), axis=0)


INDEXING: dict[str, Any] = {
    **dict.fromkeys(("Gather", "GatherElements"), gather),
    "GatherND": gather_nd,
    **dict.fromkeys(("Scatter", "ScatterElements"), scatter),
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "OneHot": one_hot,
    "Compress": picking,
}
