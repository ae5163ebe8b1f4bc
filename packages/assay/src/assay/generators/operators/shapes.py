"""What moves elements and changes no number."""

from __future__ import annotations

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, axis_of, form, version_has
from assay.generators.schemas import NotMade

MOVED = (*FLOATS, "int32", "int64", "int8", "uint8", "bool")


def moved(build: Build, operator: str, ranks: tuple[int, ...] = (1, 2, 3, 4), *, empty: bool = True) -> Operand:
    return build.operand(build.dtype(operator, among=MOVED), ranks=ranks, empty=empty)


@form("Transpose")
def transpose(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator, (0, 1, 2, 3, 4, 5))
    perm = None if build.draws.chance(15) else build.draws.shuffled(range(x.rank))
    return build.node(operator, [x], perm=perm, low=x.low, high=x.high)


@form("Reshape")
def reshape(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, (0, 1, 2, 3, 4))
    total, sizes = int(np.prod(x.shape, dtype=np.int64)), []
    kept = draws.below(x.rank) if total and x.rank > 1 and draws.chance(40) else 0
    left = int(np.prod(x.shape[kept:], dtype=np.int64))
    for _ in range(draws.between(0, 3)):
        if left == 0:
            break
        size = draws.one_of([divisor for divisor in range(1, min(left, 17) + 1) if left % divisor == 0])
        sizes.append(size)
        left //= size
    sizes.append(left)
    sizes = [*x.shape[:kept], *draws.shuffled(sizes)]
    if total and draws.chance(40):
        sizes[draws.below(len(sizes))] = -1
    zero = None
    if version_has(build, operator, "allowzero"):
        zero = 1 if 0 in sizes else draws.one_of((None, 0, 1))
    elif 0 in sizes:
        raise NotMade
    if zero != 1 and draws.chance(35):
        sizes = [0 if place < x.rank and size == x.shape[place] else size for place, size in enumerate(sizes)]
    return build.node(operator, [x, build.steering(sizes)], allowzero=zero, low=x.low, high=x.high)


@form("Flatten")
def flatten(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator)
    axis = axis_of(build, x.rank, end=1) if build.opset >= 11 else build.draws.between(0, x.rank)
    return build.node(operator, [x], axis=axis)


@form("Squeeze Unsqueeze")
def squeeze(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    if operator == "Squeeze":
        shape = tuple(1 if draws.chance(40) else size for size in build.shape((1, 2, 3, 4)))
        x = build.operand(build.dtype(operator, among=MOVED), shape)
        ones = [place for place, size in enumerate(x.shape) if size == 1]
        axes = draws.shuffled(ones)[: draws.between(1, max(1, len(ones)))] or None
        rank = x.rank
        if draws.chance(20):
            axes = None
    else:
        x = moved(build, operator, (0, 1, 2, 3))
        added = draws.between(1, 2)
        rank = x.rank + added
        axes = draws.shuffled(range(rank))[:added]
    if axes is not None and build.opset >= 11:
        axes = [axis - rank if draws.chance(30) else axis for axis in axes]
    if version_has(build, operator, "axes"):
        return build.node(operator, [x], axes=axes)
    return build.node(operator, [x] if axes is None else [x, build.steering(axes)])


@form("Concat")
def concat(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator)
    axis = axis_of(build, x.rank) if build.opset >= 11 else draws.below(x.rank)
    place = axis % x.rank
    others = []
    for _ in range(draws.between(0, 3)):
        shape = [*x.shape]
        shape[place] = draws.between(0 if draws.chance(10) else 1, 5)
        others.append(build.operand(x.dtype, shape, fixed=30))
    return build.node(operator, draws.shuffled([x, *others]), axis=axis)


@form("Split")
def split(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, empty=False)
    axis = axis_of(build, x.rank) if build.opset >= 11 else draws.below(x.rank)
    size = x.shape[axis]
    count = draws.between(1, min(4, size))
    cuts = sorted(draws.between(0, size) for _ in range(count - 1))
    sizes = [end - start for start, end in zip((0, *cuts), (*cuts, size), strict=True)]
    if version_has(build, operator, "split"):
        written_sizes = sizes if size % count or draws.chance(70) else None
        return build.node(operator, [x], count, split=written_sizes, axis=axis)
    if version_has(build, operator, "num_outputs") and draws.chance(30) and -(-size // count) * (count - 1) < size:
        return build.node(operator, [x], count, num_outputs=count, axis=axis)
    return build.node(operator, [x, build.steering(sizes)], count, axis=axis)


@form("Slice")
def slice_(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = moved(build, operator, empty=False)
    axes = draws.shuffled(range(x.rank))[: draws.between(1, x.rank)]
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        backwards = build.opset >= 10 and draws.chance(20)
        first, last = sorted((draws.between(0, size), draws.between(0, size)))
        if draws.chance(20):
            last = draws.one_of((size + 3, 2**31 - 1, 2**63 - 1))
        step = draws.one_of((1, 1, 2, 3))
        if backwards:
            first, last, step = draws.one_of((size - 1, -1)), draws.one_of((-(2**31), -size - 1, 0)), -step
        elif draws.chance(30):
            first = first - size if first < size else first
        starts.append(first)
        ends.append(last)
        steps.append(step)
    if version_has(build, operator, "starts"):
        return build.node(operator, [x], starts=starts, ends=ends, axes=axes)
    dtype = draws.one_of(("int64", "int64", "int32"))
    if dtype == "int32":
        ends = [max(-(2**31), min(2**31 - 1, end)) for end in ends]
    named = [axis - x.rank if build.opset >= 11 and draws.chance(30) else axis for axis in axes]
    reads = [x, *(build.steering(numbers, dtype) for numbers in (starts, ends, named))]
    return build.node(operator, reads if steps == [1] * len(axes) else [*reads, build.steering(steps, dtype)])


@form("Expand")
def expand(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    target = build.shape((1, 2, 3, 4))
    kept = target[draws.between(0, len(target)) :]
    shape = tuple(1 if draws.chance(40) else size for size in kept)
    x = build.operand(build.dtype(operator, among=MOVED), shape)
    sizes_asked = [
        1 if len(kept) == len(target) and length == size and draws.chance(30) else length
        for length, size in zip(target, (*[0] * (len(target) - len(shape)), *shape), strict=True)
    ]
    return build.node(operator, [x, build.steering(sizes_asked)])


@form("Tile")
def tile(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=MOVED), ranks=(1, 2, 3))
    repeats = [build.draws.one_of((1, 1, 2, 3, 0 if build.draws.chance(10) else 1)) for _ in range(x.rank)]
    return build.node(operator, [x, build.steering(repeats)])


@form("Shape Size")
def shape_of(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator, (0, 1, 2, 3, 4))
    if operator == "Shape" and version_has(build, operator, "start"):
        ends = [build.draws.one_of((None, *range(-x.rank - 1, x.rank + 2))) for _ in range(2)]
        return build.node(operator, [x], start=ends[0], end=ends[1])
    return build.node(operator, [x])


@form("Dropout")
def dropout(build: Build, operator: str) -> list[Operand]:
    x = build.operand(build.dtype(operator, among=FLOATS))
    if version_has(build, operator, "ratio"):
        return build.node(operator, [x], ratio=build.draws.one_of((None, 0.5)))
    reads = [x] if build.draws.chance(50) else [x, build.steering(0.25, "float32")]
    if len(reads) > 1 and build.draws.chance(40):
        reads.append(build.constant(np.asarray(False)))
    return build.node(operator, reads, 2 if build.draws.chance(30) else 1)


@form("CenterCropPad")
def center(build: Build, operator: str) -> list[Operand]:
    x = moved(build, operator, (1, 2, 3), empty=False)
    axes = build.draws.shuffled(range(x.rank))[: build.draws.between(1, x.rank)] if build.draws.chance(40) else None
    sizes = [build.draws.between(1, 8) for _ in (x.shape if axes is None else axes)]
    if axes is not None:
        axes = [axis - x.rank if build.draws.chance(30) else axis for axis in axes]
    return build.node(operator, [x, build.steering(sizes)], axes=axes)
