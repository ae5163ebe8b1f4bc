"""What is chosen by its value: sizes that depend on numbers, which are known here because the numbers are inputs that are drawn."""

from __future__ import annotations

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, form
from assay.generators.operators.shapes import moved
from assay.generators.schemas import NotMade

_COUNTED = ("float32", "float64", "int64", "int32", "int8", "uint8")


@form("Compress")
def compress(build: Build, operator: str) -> list[Operand]:
    """The condition may be shorter than the axis."""
    draws = build.draws
    x = moved(build, operator, (1, 2, 3), empty=False)
    axis = draws.between(-x.rank, x.rank - 1) if draws.chance(70) else None
    size = int(np.prod(x.shape)) if axis is None else x.shape[axis]
    kept = draws.wholes((draws.between(1, size),), 0, 1).astype(np.bool_)
    count = int(kept.sum())
    if not count:
        raise NotMade
    shape = [*x.shape] if axis is not None else [count]
    if axis is not None:
        shape[axis] = count
    condition = build.input(kept) if draws.chance(50) else build.constant(kept)
    return build.node(operator, [x, condition], axis=axis, known=[(x.dtype, tuple(shape))])


@form("NonZero")
def non_zero(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "int64", "int32", "uint8", "bool"))
    array = draws.wholes(build.shape((1, 2, 3)), 0, 1).astype(dtype)
    if not array.any():
        raise NotMade
    return build.node(operator, [build.input(array)], known=[("int64", (array.ndim, int(np.count_nonzero(array))))])


@form("Unique")
def unique(build: Build, operator: str) -> list[Operand]:
    """Few numbers, so that some are equal; of the whole or of the slices along an axis."""
    draws = build.draws
    dtype = build.dtype(operator, among=_COUNTED)
    array = draws.wholes(build.shape((1, 2, 3)), 0, 2).astype(dtype)
    axis = draws.between(-array.ndim, array.ndim - 1) if draws.chance(60) else None
    distinct = np.unique(array, axis=axis)
    count = distinct.size if axis is None else distinct.shape[axis]
    inverse = array.size if axis is None else array.shape[axis]
    known = [(dtype, distinct.shape), ("int64", (count,)), ("int64", (inverse,)), ("int64", (count,))]
    outputs = draws.between(1, 4)
    x = build.input(array)
    return build.node(operator, [x], outputs, axis=axis, sorted=draws.one_of((None, 0, 1)), known=known[:outputs])


@form("Range")
def counted(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "float64", "int32", "int64", "int16"))
    first, step = draws.between(-5, 5), draws.one_of((-3, -2, -1, 1, 2, 3))
    last = first + step * draws.between(1, 6) - draws.one_of((0, step // abs(step)))
    scale = draws.one_of((1.0, 0.5)) if dtype.startswith("float") else 1
    count = max(-((last - first) // -step), 0)
    if not count:
        raise NotMade
    numbers = [np.asarray(bound * scale).astype(dtype) for bound in (first, last, step)]
    reads = [
        build.input(number) if draws.chance(40) or not place else build.constant(number)
        for place, number in enumerate(numbers)
    ]
    return build.node(operator, reads, known=[(dtype, (count,))])


@form("NonMaxSuppression")
def suppressed(build: Build, operator: str) -> list[Operand]:
    """Boxes at whole places and scores that differ: neither an overlap nor an order lies on its edge. The count is that of numpy."""
    draws = build.draws
    boxes, classes, batch = draws.between(2, 6), draws.between(1, 2), draws.between(1, 2)
    places = draws.wholes((batch, boxes, 2), 0, 6).astype(np.float32)
    sizes = draws.wholes((batch, boxes, 2), 2, 5).astype(np.float32)
    scores = np.asarray(draws.shuffled(range(batch * classes * boxes)), np.float32).reshape(batch, classes, boxes) / 64
    centers = draws.chance(40)
    lows, highs = (places - sizes / 2, places + sizes / 2) if centers else (places, places + sizes)
    boxes_given = np.concatenate([places, sizes] if centers else [lows, highs], axis=-1)
    if not centers and draws.chance(30):  # any two corners across
        boxes_given[..., [0, 2]] = boxes_given[..., [2, 0]]
    most, overlap, least = draws.between(1, 4), draws.one_of((0.29, 0.47, 0.01)), draws.one_of((0.0, 0.1)) + 1 / 128
    count = sum(
        _kept(lows[n], highs[n], scores[n, c], most, overlap, least) for n in range(batch) for c in range(classes)
    )
    if not count:
        raise NotMade
    limits = [build.steering([most]), build.steering([overlap], "float32"), build.steering([least], "float32")]
    reads = [build.input(boxes_given), build.input(scores), *limits]
    return build.node(
        operator, reads, center_point_box=1 if centers else draws.one_of((None, 0)), known=[("int64", (count, 3))]
    )


def _kept(lows: np.ndarray, highs: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float) -> int:
    kept: list[int] = []
    for place in np.argsort(-scores):
        if len(kept) == most or scores[place] <= least:
            break
        shared = [
            np.prod(np.maximum(np.minimum(highs[place], highs[k]) - np.maximum(lows[place], lows[k]), 0)) for k in kept
        ]
        areas = [np.prod(highs[place] - lows[place]) + np.prod(highs[k] - lows[k]) for k in kept]
        if all(s / (a - s) <= overlap for s, a in zip(shared, areas, strict=True)):
            kept.append(int(place))
    return len(kept)


@form("CastLike")
def cast_like(build: Build, operator: str) -> list[Operand]:
    kinds = (*FLOATS, "int32", "int64", "uint8", "int8", "bool")
    to = build.draws.one_of(kinds)
    source = build.dtype(operator, among=kinds)
    x = build.operand(source, low=0.0 if to.startswith("uint") else -3.0, high=3.0)
    return build.node(operator, [x, build.operand(to, (1,))])


@form("ConstantOfShape")
def filled(build: Build, operator: str) -> list[Operand]:
    """Multiplied by an input, so that something is fed."""
    from onnx import numpy_helper

    draws = build.draws
    shape = build.shape((1, 2, 3))
    dtype = draws.one_of(("float32", "float32", "int64", "int32"))
    value = None if dtype == "float32" and draws.chance(30) else numpy_helper.from_array(np.asarray([2], dtype))
    (made,) = build.node(operator, [build.steering(list(shape))], value=value, known=[(dtype, shape)])
    return build.node("Add", [made, build.operand(dtype, shape)])
