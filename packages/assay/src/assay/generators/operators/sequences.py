"""Lists of values, taken apart and put together: what goes in comes out, or a part of it."""

from __future__ import annotations

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import axis_of, form
from assay.generators.operators.shapes import moved
from assay.generators.output_types import Known

Sizes = list[tuple[int, ...]]
_LIST: list[Known] = [("sequence", ())]


def _split(build: Build) -> tuple[Operand, Sizes, str, int]:
    """A list of the parts of a value along an axis: its shapes, type, and that axis."""
    draws = build.draws
    x = moved(build, "SplitToSequence", (1, 2, 3), empty=False)
    axis = axis_of(build, x.rank)
    place, size = axis % x.rank, x.shape[axis]
    way, kept = draws.below(3), 1
    if way == 0:
        kept = draws.one_of((0, 1))
        parts, reads = [1] * size, [x]
    elif way == 1:
        width = draws.between(1, size)
        parts = [width] * (size // width) + ([size % width] if size % width else [])
        reads = [x, build.steering(width)]
    else:
        cut = draws.between(0, size)
        parts = [cut, size - cut]
        reads = [x, build.steering(parts)]
    (made,) = build.node(
        "SplitToSequence", reads, axis=axis, keepdims=0 if not kept else draws.one_of((None, 1)), known=_LIST
    )
    shapes = [(*x.shape[:place], *([part] if kept else []), *x.shape[place + 1 :]) for part in parts]
    return made, shapes, x.dtype, place


def _made(build: Build) -> tuple[Operand, Sizes, str, int]:
    """A list of values of one shape."""
    x = moved(build, "SequenceConstruct", (1, 2, 3), empty=False)
    others = [build.operand(x.dtype, x.shape, fixed=30) for _ in range(build.draws.between(0, 3))]
    (made,) = build.node("SequenceConstruct", build.draws.shuffled([x, *others]), known=_LIST)
    return made, [x.shape] * (len(others) + 1), x.dtype, build.draws.below(x.rank)


def _changed(build: Build) -> tuple[Operand, Sizes, str, int]:
    """Sometimes with one more, or one less, at a place that may be counted from the back."""
    draws = build.draws
    made, shapes, dtype, place = draws.one_of((_split, _made))(build)
    if draws.chance(30):
        at = draws.between(-len(shapes), len(shapes))
        more = build.operand(dtype, shapes[0])
        reads = [made, more] if draws.chance(30) else [made, more, build.steering(at)]
        (made,) = build.node("SequenceInsert", reads, known=_LIST)
        shapes.insert(len(shapes) if len(reads) == 2 else at, shapes[0])
    if len(shapes) > 1 and draws.chance(30):
        at = draws.between(-len(shapes), len(shapes) - 1)
        reads = [made] if draws.chance(30) else [made, build.steering(at)]
        (made,) = build.node("SequenceErase", reads, known=_LIST)
        del shapes[-1 if len(reads) == 1 else at]
    return made, shapes, dtype, place


@form("SequenceAt")
def taken(build: Build, operator: str) -> list[Operand]:
    made, shapes, dtype, _ = _changed(build)
    at = build.draws.between(-len(shapes), len(shapes) - 1)
    number = np.asarray(at, build.draws.one_of(("int64", "int32")))
    place = build.constant(number) if build.draws.chance(50) else build.input(number)
    return build.node(operator, [made, place], known=[(dtype, shapes[at])])


@form("ConcatFromSequence")
def joined(build: Build, operator: str) -> list[Operand]:
    """Along an axis that is there, or a new one."""
    made, shapes, dtype, place = _changed(build)
    rank = len(shapes[0])
    if len({*shapes}) == 1 and build.draws.chance(50):
        axis = build.draws.between(-rank - 1, rank)
        shape = [*shapes[0]]
        shape.insert(axis % (rank + 1), len(shapes))
        return build.node(operator, [made], axis=axis, new_axis=1, known=[(dtype, tuple(shape))])
    if (
        rank == 0
        or place >= rank
        or len({(*part_shape[:place], *part_shape[place + 1 :]) for part_shape in shapes}) > 1
    ):
        return build.node("SequenceLength", [made], known=[("int64", ())])
    shape = [*shapes[0]]
    shape[place] = sum(part_shape[place] for part_shape in shapes)
    axis = place - rank if build.draws.chance(50) else place
    return build.node(
        operator, [made], axis=axis, new_axis=build.draws.one_of((None, 0)), known=[(dtype, tuple(shape))]
    )


@form("SequenceLength")
def length(build: Build, operator: str) -> list[Operand]:
    made, _, _, _ = _changed(build)
    return build.node(operator, [made], known=[("int64", ())])
