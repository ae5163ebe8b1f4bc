"""What only moves, picks or makes elements: every type, ranks, negative axes, empty ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from onnx import numpy_helper

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints, one_int


def reshape(g: Gen) -> Iterator[OpCase]:
    forms = (
        ((2, 3, 4), (4, 6)),
        ((2, 3, 4), (-1,)),
        ((2, 3, 4), (0, -1)),
        ((2, 3, 4), (0, 0, 2, 2)),
        ((1,), ()),
        ((), (1, 1)),
    )
    for shape, wanted in (*forms, ((0, 3), (3, 0, 2) if g.has("allowzero") else (0, 3)), ((2, 3), (3, -1, 1))):
        given = np.array(wanted, np.int64)
        if wanted or g.takes(2):
            yield g.case(g.x(*shape), given) if g.takes(2) else g.case(g.x(*shape), shape=list(wanted))
        if g.has("allowzero"):
            yield g.case(g.x(*shape), given, allowzero=1)
    for dtype in g.dtypes():
        x = g.x(2, 3, dtype=dtype)
        yield g.case(x, ints(3, 2)) if g.takes(2) else g.case(x, shape=[3, 2])


def flatten(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 3, 4), (2, 3), (3,), (2, 0, 3), ()):
        for axis in (None, *range(-len(shape) if g.version >= 11 else 0, len(shape) + 1)):
            yield g.case(g.x(*shape), axis=axis)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 2, dtype=dtype))


def squeeze(g: Gen) -> Iterator[OpCase]:
    for shape, axes in (
        ((1, 3, 1, 2), (0,)),
        ((1, 3, 1, 2), (0, 2)),
        ((1, 3, 1, 2), (-2,)),
        ((1, 1), (0, 1)),
        ((1, 0), (0,)),
    ):
        if g.version >= 11 or axes[0] >= 0:
            yield g.case(g.x(*shape), ints(*axes) if g.takes(2) else None, axes=list(axes))
    for shape in ((1, 3, 1), (2, 3), (1,), ()):
        yield g.case(g.x(*shape))
    for dtype in g.dtypes():
        yield g.case(g.x(1, 3, dtype=dtype), ints(0) if g.takes(2) else None, axes=[0])


def unsqueeze(g: Gen) -> Iterator[OpCase]:
    for shape, axes in (
        ((3, 2), (0,)),
        ((3, 2), (1, 3)),
        ((3, 2), (-1,)),
        ((3, 2), (3, 0)),
        ((), (0,)),
        ((2, 0), (-2,)),
        ((3,), (-1, 0)),
    ):
        if g.version >= 11 or min(axes) >= 0:
            yield g.case(g.x(*shape), ints(*axes) if g.takes(2) else None, axes=list(axes))
    for dtype in g.dtypes():
        yield g.case(g.x(1, 3, dtype=dtype), ints(0) if g.takes(2) else None, axes=[0])


def transpose(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 3, 4), (2, 3), (3,), (), (2, 0, 3)):
        yield g.case(g.x(*shape))
        yield g.case(g.x(*shape), perm=[*range(1, len(shape)), 0] if shape else None)
    for dtype in g.dtypes():
        yield g.case(g.x(2, 3, dtype=dtype))


def concat(g: Gen) -> Iterator[OpCase]:
    for axis in (None, 0, 1, 2, -1, -3):
        if (axis is None and g.version > 3) or (axis is not None and axis < 0 and g.version < 11):
            continue
        place = 1 if axis is None else axis
        shapes = [[2, 3, 4] for _ in range(3)]
        for shape, size in zip(shapes, (1, 3, 0), strict=True):
            shape[place] = size
        yield g.case(*(g.x(*shape) for shape in shapes), axis=axis)
        yield g.case(g.x(2, 3, 4), axis=axis)
    for dtype in g.dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), g.x(1, 3, dtype=dtype), axis=0)


def split(g: Gen) -> Iterator[OpCase]:
    sizes_by_input = g.version >= 13 or g.version == 1
    for axis in (None, 0, 1, -1):
        if axis is not None and axis < 0 and g.version < 11:
            continue
        place = 0 if axis is None else axis
        shape = [6, 4, 6]
        total = shape[place]
        for sizes in ([total // 2, total - total // 2], [1, total - 1], [total, 0]):
            yield g.case(
                g.x(*shape),
                ints(*sizes) if sizes_by_input else None,
                axis=axis,
                split=None if sizes_by_input else sizes,
                outputs=2,
            )
        yield g.case(g.x(*shape), axis=axis, num_outputs=2, outputs=2)
        yield g.case(g.x(7, 7, 7), axis=axis, num_outputs=3, outputs=3)
    for dtype in g.dtypes():
        yield g.case(g.x(4, 3, dtype=dtype), num_outputs=2, outputs=2)


def slices(g: Gen) -> Iterator[OpCase]:
    forms: list[tuple[Any, ...]] = [
        ([1], [3], None, None),
        ([0, 1], [2, 100], None, None),
        ([-2], [2**40], [1], None),
        ([1, 0], [-1, 2], [2, 0], None),
        ([5], [9], [0], None),
        ([2], [1], [1], None),
    ]
    if g.takes(5):
        forms += [
            ([0], [5], [1], [2]),
            ([-1], [-100], [1], [-1]),
            ([4, 3], [0, -100], [1, -1], [-2, -1]),
            ([100], [0], [0], [-1]),
            ([-1], [-(2**40)], [0], [-2]),
        ]
    for starts, ends, axes, steps in forms:
        if g.takes(2):
            for kind in (np.int64, np.int32):
                if max(map(abs, (*starts, *ends))) < 2**31 or kind is np.int64:
                    given = [None if array is None else np.array(array, kind) for array in (starts, ends, axes, steps)]
                    yield g.case(g.x(4, 5, 6), *given)
        else:
            yield g.case(g.x(4, 5, 6), starts=starts, ends=ends, axes=axes)
    for dtype in g.dtypes():
        x = g.x(4, 3, dtype=dtype)
        yield g.case(x, ints(1), ints(3)) if g.takes(2) else g.case(x, starts=[1], ends=[3])


def pad(g: Gen) -> Iterator[OpCase]:
    named = "paddings" if g.version == 1 else "pads"
    modes = [None, "constant", "reflect", "edge", *(["wrap"] if g.version >= 19 else [])]
    forms = ((0, 1, 0, 1), (1, 2, 2, 1), (0, 0, 0, 0), (-1, 0, 0, -1), (1, -1, 0, 1))
    for mode, pads in product(modes, forms):
        if g.takes(2):
            yield g.case(g.x(3, 4), ints(*pads), mode=mode)
            yield g.case(
                g.x(3, 4), ints(*pads), np.array(1.5, g.first) if mode in (None, "constant") else None, mode=mode
            )
            if g.takes(4):
                yield g.case(g.x(3, 4, 3), ints(*pads), None, ints(0, 2), mode=mode)
                yield g.case(g.x(3, 4, 3), ints(*pads), None, ints(-1, 1), mode=mode)
        else:
            yield g.case(g.x(3, 4), mode=mode, value=1.5, **{named: list(pads)})
    for dtype in g.some_dtypes():
        yield (
            g.case(g.x(2, 2, dtype=dtype), ints(0, 1, 1, 0))
            if g.takes(2)
            else g.case(g.x(2, 2, dtype=dtype), **{named: [0, 1, 1, 0]})
        )


def tile(g: Gen) -> Iterator[OpCase]:
    if g.version < 6:
        yield g.case(g.x(2, 3), np.array([2], g.first), np.array([1], g.first))
        return
    for shape, times in (((2, 3), (1, 2)), ((2, 3), (2, 0)), ((3,), (3,)), ((1, 2, 1), (2, 1, 3)), ((0, 2), (2, 2))):
        yield g.case(g.x(*shape), ints(*times))
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 2, dtype=dtype), ints(2, 1))


def expand(g: Gen) -> Iterator[OpCase]:
    for shape, wanted in (
        ((3, 1), (2, 3, 4)),
        ((3, 1), (3, 1)),
        ((), (2, 2)),
        ((3,), (1,)),
        ((1, 3), (2, 1)),
        ((1,), (0,)),
        ((2, 3), ()),
    ):
        yield g.case(g.x(*shape), np.array(wanted, np.int64))
    for dtype in g.dtypes():
        yield g.case(g.x(2, 1, dtype=dtype), ints(2, 2))


def blocks(g: Gen) -> Iterator[OpCase]:
    deep = g.schema.name == "DepthToSpace"
    shape = (2, 8, 2, 3) if deep else (2, 3, 4, 6)
    for mode in (None, "DCR", "CRD") if g.has("mode") else (None,):
        yield g.case(g.x(*shape), blocksize=2, mode=mode)
        yield g.case(g.x(1, 9, 1, 1) if deep else g.x(1, 1, 3, 3), blocksize=3, mode=mode)
    for dtype in g.some_dtypes():
        yield g.case(g.x(*shape, dtype=dtype), blocksize=2)


def shapes(g: Gen) -> Iterator[OpCase]:
    """Shape, Size."""
    for shape in ((2, 3, 4), (), (0, 3), (5,)):
        yield g.case(g.x(*shape))
        for start, end in ((1, None), (-1, None), (None, -1), (0, 1), (5, 9), (-9, 2), (2, 1)):
            if g.has("start"):
                yield g.case(g.x(*shape), start=start, end=end)
    for dtype in g.dtypes():
        yield g.case(g.x(2, 3, dtype=dtype))


def triangle(g: Gen) -> Iterator[OpCase]:
    for upper in (None, 0):
        for shape in ((3, 4), (2, 4, 3), (3, 0)):
            yield g.case(g.x(*shape), upper=upper)
            for k in (-7, -1, 0, 1, 9):
                yield g.case(g.x(*shape), one_int(k), upper=upper)
    for dtype in g.some_dtypes():
        yield g.case(g.x(3, 3, dtype=dtype))


def eye(g: Gen) -> Iterator[OpCase]:
    for k in (None, 1, -1, 9):
        yield g.case(g.x(3, 4), k=k)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 2, dtype=dtype))
        yield g.case(g.x(2, 2, dtype=dtype), dtype=7)


def ranges(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for start, limit, step in ((0, 5, 1), (1, 10, 3), (5, 0, -2), (3, 3, 1), (5, 0, 1)):
            if dtype.kind != "u" or step > 0:
                yield g.case(*(np.array(array, dtype) for array in (start, limit, step)))
    yield g.case(*(np.array(array, np.float32) for array in (0.5, 2.2, 0.3)))


def filled(g: Gen) -> Iterator[OpCase]:
    """ConstantOfShape."""
    for shape in ((2, 3), (0,), ()):
        yield g.case(np.array(shape, np.int64))
        for dtype in (np.float32, np.float64, np.int32, np.int64, np.bool_, np.float16, np.uint8):
            yield g.case(np.array(shape, np.int64), value=numpy_helper.from_array(np.array([1], dtype)))


def constant(g: Gen) -> Iterator[OpCase]:
    for dtype in (np.float32, np.int64, np.bool_, np.float64, np.float16):
        yield g.case(value=numpy_helper.from_array(np.array([[0, 1]], dtype)))
    yield g.case(value=numpy_helper.from_array(np.array(2.5, np.float32)))
    given = {"value_float": 1.5, "value_int": 3, "value_floats": [1.5, 2], "value_ints": [3], "value_string": "a"}
    for name, value in given.items():
        if g.has(name):
            yield g.case(**{name: value})


def reverse(g: Gen) -> Iterator[OpCase]:
    for batch, time in ((None, None), (0, 1), (1, 0)):
        lengths = g.rng.integers(1, 4, 3 if batch == 0 else 4)
        yield g.case(g.x(3, 4), lengths, batch_axis=batch, time_axis=time)
        yield g.case(g.x(3, 4, 2), lengths, batch_axis=batch, time_axis=time)


def crop_pad(g: Gen) -> Iterator[OpCase]:
    for shape in ((5, 3), (2, 8), (4, 6)):
        yield g.case(g.x(4, 6), ints(*shape))
    for axes in ([0], [1], [-1], [1, 0]):
        yield g.case(g.x(4, 6), ints(*(5, 3)[: len(axes)]), axes=axes)


MOVING = {
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Concat": concat,
    "Split": split,
    "Slice": slices,
    "Pad": pad,
    "Tile": tile,
    "Expand": expand,
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), blocks),
    **dict.fromkeys(("Shape", "Size"), shapes),
    "Trilu": triangle,
    "EyeLike": eye,
    "Range": ranges,
    "ConstantOfShape": filled,
    "Constant": constant,
    "ReverseSequence": reverse,
    "CenterCropPad": crop_pad,
}
