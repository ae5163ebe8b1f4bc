"""Over axes: reductions, softmax, sorting, counting, sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints, one_int

FORMS = (
    ((2, 3, 4), (1,)),
    ((2, 3, 4), (-1,)),
    ((2, 3, 4), (0, 2)),
    ((2, 3, 4), (-3, -1)),
    ((4,), (0,)),
    ((2, 1, 3), (1,)),
)


def reduction(g: Gen) -> Iterator[OpCase]:
    low = 0.2 if "Log" in g.schema.name and "Exp" not in g.schema.name else -3.0
    by_input = g.takes(2)
    for shape, axes in FORMS:
        for keepdims in (None, 0, 1):
            yield g.case(g.x(*shape, low=low), ints(*axes) if by_input else None, axes=list(axes), keepdims=keepdims)
    for shape in ((2, 3, 4), (3,), (), (1, 1)):
        for keepdims in (None, 0):
            yield g.case(g.x(*shape, low=low), keepdims=keepdims)
            if by_input:
                yield g.case(g.x(*shape, low=low), ints(), keepdims=keepdims)
                yield g.case(g.x(*shape, low=low), ints(), keepdims=keepdims, noop_with_empty_axes=1)
                yield g.case(g.x(*shape, low=low), keepdims=keepdims, noop_with_empty_axes=1)
    for shape, axes in (((2, 0, 3), (1,)), ((2, 0, 3), (0,)), ((0, 3), (0, 1))):
        yield g.case(g.x(*shape), ints(*axes) if by_input else None, axes=list(axes))
    for dtype in g.some_dtypes():
        x = g.x(2, 3, 4, dtype=dtype, low=low)
        yield g.case(x, ints(1) if by_input else None, axes=[1])
        if dtype.kind == "f":
            yield g.case(g.special(dtype), ints(0) if by_input else None, axes=[0])
            yield g.case(np.stack([g.special(dtype), np.ones(11, dtype)]), ints(0) if by_input else None, axes=[0])
            yield g.case(np.full((2, 2), -np.inf, dtype), ints(0) if by_input else None, axes=[0])
            big = np.array([80.0, 90.0, 10.0] if dtype.itemsize < 4 else [800.0, 900.0, 10.0], dtype)
            yield g.case(big, ints(0) if by_input else None, axes=[0])


def normalized(g: Gen) -> Iterator[OpCase]:
    """Softmax, LogSoftmax, Hardmax, LpNormalization: one axis."""
    for shape in ((3,), (2, 3), (2, 3, 4), (2, 1, 2, 3), (2, 0, 3)):
        for axis in (None, *range(-len(shape), len(shape))):
            if axis is None or g.version >= 11 or axis >= 0:
                yield g.case(g.x(*shape), axis=axis)
                if g.has("p"):
                    yield g.case(g.x(*shape), axis=axis, p=1)
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 4, dtype=dtype), axis=1)
        yield g.case(g.x(3, 40, dtype=dtype, low=-9, high=9), axis=1)
    yield g.case(np.array([[1, 2, 2, -1], [0, 0, 0, 0], [5, 5, 5, 5]], g.first), axis=1)
    if not g.has("p"):
        yield g.case(np.array([[1, -np.inf, 2], [1000, 0, 1000]], g.first), axis=1)


def arg(g: Gen) -> Iterator[OpCase]:
    for shape in ((4,), (2, 3), (2, 3, 4)):
        for axis in (None, *range(-len(shape), len(shape))):
            for keepdims in (None, 0):
                if axis is None or axis >= 0 or g.version >= 11:
                    ties = g.x(*shape, dtype=np.float32, low=0, high=2).round().astype(g.first)
                    yield g.case(ties, axis=axis, keepdims=keepdims)
                    if g.has("select_last_index"):
                        yield g.case(ties, axis=axis, keepdims=keepdims, select_last_index=1)
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 5, dtype=dtype), axis=1)


def cumulative(g: Gen) -> Iterator[OpCase]:
    for shape in ((4,), (2, 3), (2, 3, 4), (2, 0, 3)):
        for axis in range(-len(shape), len(shape)):
            for exclusive in (None, 1):
                for reverse in (None, 1):
                    yield g.case(g.x(*shape), one_int(axis), exclusive=exclusive, reverse=reverse)
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 4, dtype=dtype), np.array(1, np.int32))
    yield g.case(g.x(3, 4), ints(1))


def top(g: Gen) -> Iterator[OpCase]:
    for shape in ((5,), (3, 5), (2, 3, 4), (2, 5, 1)):
        for axis in (None, *range(-len(shape), len(shape))):
            size = shape[-1 if axis is None else axis]
            for k in sorted({1, size, max(1, size - 1)}):
                if axis is not None and axis < 0 and g.version < 11:
                    continue
                for largest in (None, 0) if g.has("largest") else (None,):
                    values = g.rng.permutation(int(np.prod(shape))).reshape(shape).astype(g.first)
                    given = ints(k) if g.takes(2) else None
                    yield g.case(values, given, axis=axis, k=k, largest=largest, outputs=2)
    for dtype in g.some_dtypes():
        if dtype.kind != "b":
            yield g.case(
                g.rng.permutation(12).reshape(3, 4).astype(dtype), ints(2) if g.takes(2) else None, k=2, outputs=2
            )
    ties = np.array([[1, 2, 2, 1, 2], [0, 0, 0, 0, 0]], g.first)
    yield g.case(ties, ints(3) if g.takes(2) else None, k=3, outputs=2)
    yield g.case(g.x(3, 4), ints(0) if g.takes(2) else None, k=0, outputs=2)


def unique(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        x = g.x(3, 4, dtype=dtype, low=0, high=3)
        x = np.round(x.astype(np.float32)).astype(dtype) if dtype.kind == "f" else x
        for axis in (None, 0, 1, -1):
            for is_sorted in (None, 0):
                yield g.case(x, axis=axis, sorted=is_sorted, outputs=4)
    yield g.case(g.x(0), outputs=4)


def non_zero(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 4, dtype=dtype, low=-1, high=1))
    for shape in ((), (1,), (0,), (2, 3, 2), (2, 0)):
        yield g.case(np.round(g.x(*shape, dtype=np.float32, low=-1, high=1)).astype(g.first))


def mean_variance(g: Gen) -> Iterator[OpCase]:
    yield g.case(g.x(2, 3, 4, 5))
    for axes in ([0], [0, 2], [1], [-1], [2, 3]):
        if g.version >= 13 or axes[0] >= 0:
            yield g.case(g.x(2, 3, 4, 5), axes=axes)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 4, 5, dtype=dtype))


REDUCING = {
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"), normalized),
    **dict.fromkeys(("ArgMax", "ArgMin"), arg),
    "CumSum": cumulative,
    "CumProd": cumulative,
    "TopK": top,
    "Unique": unique,
    "NonZero": non_zero,
    "MeanVarianceNormalization": mean_variance,
}
