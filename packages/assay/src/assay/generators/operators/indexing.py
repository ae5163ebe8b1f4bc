"""Elements by their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import axis_of, form
from assay.generators.operators.shapes import MOVED, moved
from assay.generators.schemas import NotMade
from assay.ports import Tensor


def places(build: Build, shape: Sequence[int], size: int, dtype: str = "int64") -> Operand:
    """Indices into an axis of that size, some counted from the end; a constant in half of the cases."""
    draws = build.draws
    low = -size if build.opset >= 11 and draws.chance(50) else 0
    array = draws.wholes(shape, low, size - 1).astype(dtype)
    return build.constant(array) if draws.chance(50) else build.input(array, low, size - 1)


def _types(build: Build) -> str:
    return build.draws.one_of(("int64", "int64", "int32"))


@form("Gather")
def gather(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator, empty=False)
    axis = axis_of(build, x.rank)
    return build.node(operator, [x, places(build, build.shape((0, 1, 2)), x.shape[axis], _types(build))], axis=axis)


@form("GatherElements")
def gather_elements(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator, (1, 2, 3), empty=False)
    axis = axis_of(build, x.rank)
    shape = [build.draws.between(1, size) for size in x.shape]
    shape[axis] = build.draws.between(1, 6)
    return build.node(operator, [x, places(build, shape, x.shape[axis], _types(build))], axis=axis)


def _distinct(build: Build, shape: Sequence[int], axis: int, size: int) -> Tensor:
    """Indices without a repetition along the axis: the order of writes to one place is not defined."""
    lines = int(np.prod(shape, dtype=np.int64)) // shape[axis]
    columns = [build.draws.shuffled(range(size))[: shape[axis]] for _ in range(lines)]
    turned = [*shape[:axis], *shape[axis + 1 :], shape[axis]]
    return np.moveaxis(np.asarray(columns, np.int64).reshape(turned), -1, axis)


@form("Scatter ScatterElements")
def scatter_elements(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, (1, 2, 3), empty=False)
    axis = axis_of(build, x.rank)
    shape = [draws.between(1, size) for size in x.shape]
    ways = ("none", "add", "mul") + (("min", "max") if build.opset >= 18 else ())
    reduction = draws.one_of((None, *ways)) if build.opset >= 16 and x.dtype != "bool" else None
    array = _distinct(build, shape, axis % x.rank, x.shape[axis])
    if reduction not in (None, "none") and draws.chance(40):  # the order of sums and extremes is of no account
        array = draws.wholes(shape, 0, min(x.shape[axis] - 1, 1))
    if draws.chance(30) and build.opset >= 11:
        array = np.where(array % 2 == 0, array, array - x.shape[axis])
    indices = build.constant(array) if draws.chance(40) else build.input(array)
    return build.node(operator, [x, indices, build.operand(x.dtype, shape, fixed=30)], axis=axis, reduction=reduction)


@form("GatherND")
def gather_nd(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, (1, 2, 3), empty=False)
    batch = draws.below(x.rank) if build.opset >= 12 and draws.chance(40) else 0
    depth = draws.between(1, x.rank - batch)
    shape = (*x.shape[:batch], *build.shape((0, 1)))
    sizes = np.asarray(x.shape[batch : batch + depth], np.int64)
    if not sizes.all():
        raise NotMade
    array = draws.wholes((*shape, depth), 0, 2**20) % sizes
    if draws.chance(30):
        array = np.where(array % 2 == 0, array, array - sizes)
    return build.node(operator, [x, build.input(array)], batch_dims=batch or None)


@form("ScatterND")
def scatter_nd(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, (1, 2, 3), empty=False)
    depth = draws.between(1, x.rank)
    every = list(np.ndindex(*x.shape[:depth]))
    chosen = draws.shuffled(every[:200])[: draws.between(1, min(4, len(every)))]
    array = np.asarray(chosen, np.int64)
    ways = ("none", "add", "mul") + (("min", "max") if build.opset >= 18 else ())
    reduction = draws.one_of((None, *ways)) if build.opset >= 16 and x.dtype != "bool" else None
    if reduction not in (None, "none") and draws.chance(40):
        array[1:] = array[:1]
    if draws.chance(25):
        array = np.where(draws.wholes(array.shape, 0, 1), array, array - np.asarray(x.shape[:depth]))
    updates = build.operand(x.dtype, (len(chosen), *x.shape[depth:]))
    return build.node(operator, [x, build.input(array), updates], reduction=reduction)


@form("OneHot")
def one_hot(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    depth = draws.between(1, 6)
    indices = build.input(draws.wholes(build.shape((0, 1, 2)), -depth if build.opset >= 11 else 0, depth - 1))
    dtype = draws.one_of(("float32", "int64", "int32"))
    values = build.constant(np.asarray([0, 1] if draws.chance(50) else [3, 2], dtype))
    sizes = build.steering(depth if draws.chance(50) else [depth])
    return build.node(operator, [indices, sizes, values], axis=draws.between(-indices.rank - 1, indices.rank))


@form("ReverseSequence")
def reverse_sequence(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = build.operand(build.dtype(operator, among=MOVED), ranks=(2, 3))
    batch = draws.below(2)
    lengths = build.input(draws.wholes((x.shape[batch],), 1, x.shape[1 - batch]))
    return build.node(operator, [x, lengths], batch_axis=batch, time_axis=1 - batch)
