"""Convolution, pooling and sampling: spatial axes, strides, padding, dilations, groups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints

SIZES = {1: (7,), 2: (6, 5), 3: (6, 5, 4)}


def _windows(g: Gen, kernel: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    axes = len(kernel)
    yield {}
    yield {"strides": [2] * axes}
    yield {"pads": [1] * (2 * axes)}
    yield {"pads": [1] * axes + [0] * axes, "strides": [2] + [1] * (axes - 1)}
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield {"auto_pad": auto, "strides": [2] * axes}
        yield {"auto_pad": auto}
    if g.has("dilations"):
        yield {"dilations": [2] * axes}
        yield {"dilations": [2] * axes, "pads": [1] * (2 * axes)}
    if g.has("ceil_mode"):
        yield {"ceil_mode": 1, "strides": [2] * axes}
        yield {"ceil_mode": 1, "strides": [2] * axes, "pads": [1] * (2 * axes)}
        yield {"ceil_mode": 1, "strides": [3] * axes, "pads": [0] * axes + [1] * axes}
    if g.has("count_include_pad"):
        yield {"count_include_pad": 1, "pads": [1] * (2 * axes)}
        yield {"count_include_pad": 1, "pads": [1] * (2 * axes), "ceil_mode": 1, "strides": [2] * axes}
        yield {"count_include_pad": 1, "auto_pad": "SAME_UPPER", "strides": [2] * axes}
    if g.has("storage_order"):
        yield {"storage_order": 1, "pads": [1] * (2 * axes)}


def pool(g: Gen) -> Iterator[OpCase]:
    places = 2 if g.schema.name == "MaxPool" and len(g.schema.outputs) > 1 else 1
    for axes, size in SIZES.items():
        for kernel in ((2,) * axes, (3, 2, 2)[:axes]):
            for attributes in _windows(g, kernel):
                for outputs in range(1, places + 1):
                    yield g.case(g.x(2, 3, *size), outputs=outputs, kernel_shape=list(kernel), **attributes)
                if g.has("p"):
                    yield g.case(g.x(2, 3, *size), kernel_shape=list(kernel), p=_p(g), **attributes)
    for dtype in g.some_dtypes():
        yield g.case(g.x(1, 2, 5, 5, dtype=dtype), kernel_shape=[2, 2], strides=[2, 2])
    special = np.resize(g.special(g.first), (1, 1, 4, 4))
    yield g.case(special, kernel_shape=[2, 2], pads=[1, 1, 0, 0])
    yield g.case(np.full((1, 1, 3, 3), -np.inf, g.first), kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    yield g.case(g.x(0, 2, 5, 5), kernel_shape=[2, 2])
    yield g.case(g.x(1, 2, 1, 1), kernel_shape=[1, 1])


def _p(g: Gen) -> Any:
    return 3 if g.version > 1 else 3.0


def global_pool(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 4), (2, 3, 1), (2, 3, 1, 1), (0, 3, 2, 2), (1, 2, 2, 1, 2, 2)):
        yield g.case(g.x(*shape))
        if g.has("p"):
            yield g.case(g.x(*shape), p=3 if g.version > 1 else 3.0)
            yield g.case(g.x(*shape), p=1 if g.version > 1 else 1.0)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 4, 5, dtype=dtype))
        yield g.case(g.x(2, 3, 4, dtype=dtype))
    yield g.case(np.resize(g.special(g.first), (1, 3, 11)))


def convolution(g: Gen) -> Iterator[OpCase]:
    for axes, size in SIZES.items():
        for kernel in ((3,) * axes, (1,) * axes, (2, 3, 2)[:axes]):
            for attributes in _windows(g, kernel):
                yield g.case(g.x(2, 4, *size), g.x(3, 4, *kernel), **attributes)
            yield g.case(g.x(2, 4, *size), g.x(3, 4, *kernel), g.x(3), kernel_shape=list(kernel))
            yield g.case(g.x(2, 4, *size), g.x(6, 2, *kernel), g.x(6), group=2)
            yield g.case(g.x(1, 4, *size), g.x(8, 1, *kernel), None, group=4, pads=[1] * (2 * axes))
    for dtype in g.some_dtypes():
        yield g.case(g.x(1, 2, 5, 5, dtype=dtype), g.x(3, 2, 3, 3, dtype=dtype), g.x(3, dtype=dtype))
    yield g.case(g.x(0, 2, 5, 5), g.x(3, 2, 3, 3))


def transposed(g: Gen) -> Iterator[OpCase]:
    for axes, size in {1: (4,), 2: (3, 4), 3: (2, 3, 2)}.items():
        for kernel in ((3,) * axes, (2, 3, 2)[:axes]):
            forms: list[dict[str, Any]] = [
                {},
                {"strides": [2] * axes},
                {"strides": [2] * axes, "output_padding": [1] * axes},
                {"pads": [1] * (2 * axes)},
                {"pads": [1] * axes + [0] * axes, "strides": [2] * axes},
                {"dilations": [2] * axes},
                {"auto_pad": "SAME_UPPER", "strides": [2] * axes},
                {"auto_pad": "SAME_LOWER", "strides": [2] * axes},
                {"auto_pad": "VALID", "strides": [2] * axes},
                {"strides": [2] * axes, "output_shape": [n * 2 for n in size]},
            ]
            for attributes in forms:
                yield g.case(g.x(2, 4, *size), g.x(4, 3, *kernel), **attributes)
            yield g.case(g.x(2, 4, *size), g.x(4, 3, *kernel), g.x(6), group=2, kernel_shape=list(kernel))
    for dtype in g.some_dtypes():
        yield g.case(g.x(1, 2, 3, 3, dtype=dtype), g.x(2, 3, 3, 3, dtype=dtype), g.x(3, dtype=dtype))


def integer_convolution(g: Gen) -> Iterator[OpCase]:
    for kind, other in product(g.dtypes(0), g.dtypes(1)):
        x, w = g.x(1, 2, 5, 5, dtype=kind, high=100), g.x(3, 2, 3, 3, dtype=other, high=100)
        yield g.case(x, w)
        yield g.case(x, w, np.array(3, kind), pads=[1, 1, 1, 1])
        yield g.case(x, w, np.array(3, kind), np.array(2, other), strides=[2, 2])
        yield g.case(x, w, np.array(3, kind), np.array([1, 2, 3], other))
    x = g.x(1, 2, 7, dtype=g.dtypes()[0], high=9)
    yield g.case(x, g.x(2, 2, 3, dtype=x.dtype, high=9), np.array(3, x.dtype), pads=[1, 1])


def quantized_convolution(g: Gen) -> Iterator[OpCase]:
    for kind, other in product(g.dtypes(0), g.dtypes(3)):
        x, w = g.x(1, 2, 5, 5, dtype=kind, low=-90, high=90), g.x(3, 2, 3, 3, dtype=other, low=-90, high=90)
        scale = (np.array(0.03, np.float32), np.array(3, kind))
        end = (np.array(0.7, np.float32), np.array(2, kind))
        each = (g.x(3, dtype=np.float32, low=0.01, high=0.05), np.zeros(3, other))
        for attributes in ({}, {"pads": [1, 1, 1, 1]}, {"strides": [2, 2]}):
            yield g.case(x, *scale, w, np.array(0.02, np.float32), np.array(0, other), *end, **attributes)
        yield g.case(x, *scale, w, *each, *end, g.x(3, dtype=np.int32, low=-500, high=500))


def unpool(g: Gen) -> Iterator[OpCase]:
    x = np.array([[[[1, 2], [3, 4]]]], g.first)
    places = np.array([[[[5, 7], [13, 15]]]], np.int64)
    yield g.case(x, places, kernel_shape=[2, 2], strides=[2, 2])
    yield g.case(x, places, ints(1, 1, 5, 5), kernel_shape=[2, 2], strides=[2, 2])
    yield g.case(x[:, :, 0], np.array([[[1, 3]]], np.int64), kernel_shape=[2], strides=[2])
    yield g.case(x, places, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1])


def roi_pool(g: Gen) -> Iterator[OpCase]:
    regions = np.array([[0, 0, 0, 3, 3], [1, 1, 1, 5, 4], [0, 2, 2, 2, 2]], g.first)
    for scale in (None, 0.5):
        for shape in ([2, 2], [3, 1], [1, 1]):
            yield g.case(g.x(2, 3, 6, 6), regions, pooled_shape=shape, spatial_scale=scale)


def roi_align(g: Gen) -> Iterator[OpCase]:
    regions = np.array([[0, 0, 4, 4], [1, 1.5, 5, 4.5], [0.5, 0.5, 1, 1]], g.first)
    batch = ints(0, 1, 0)
    for mode in (None, "max"):
        for half in (None, "output_half_pixel"):
            for ratio in (None, 2):
                for scale in (None, 0.5):
                    size = {"output_height": 2, "output_width": 3}
                    options = {"mode": mode, "coordinate_transformation_mode": half, "sampling_ratio": ratio}
                    yield g.case(g.x(2, 3, 6, 6), regions, batch, spatial_scale=scale, **size, **options)
    yield g.case(g.x(2, 3, 6, 6), regions, batch)


def column_image(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        if dtype.kind == "f":
            yield g.case(g.x(1, 5, 5, dtype=dtype), ints(5, 5), ints(1, 5))
    yield g.case(g.x(1, 9, 4), ints(4, 4), ints(3, 3))
    yield g.case(g.x(2, 8, 16), ints(5, 5), ints(2, 2))
    yield g.case(g.x(2, 8, 4), ints(5, 5), ints(2, 2), dilations=[1, 1], strides=[3, 3])
    yield g.case(g.x(1, 9, 25), ints(5, 5), ints(3, 3), pads=[1, 1, 1, 1])
    yield g.case(g.x(1, 4, 9), ints(5, 5), ints(2, 2), dilations=[2, 2])
    yield g.case(
        g.x(1, 6, 5),
        ints(
            7,
        ),
        ints(
            3,
        ),
    )


def deformed(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(
            g.x(1, 2, 4, 4, dtype=dtype), g.x(3, 2, 2, 2, dtype=dtype), g.x(1, 8, 3, 3, dtype=dtype, low=-1, high=1)
        )
    yield g.case(g.x(2, 2, 4, 4), g.x(3, 2, 2, 2), g.x(2, 8, 3, 3), g.x(3), g.x(2, 4, 3, 3, low=0, high=1))
    yield g.case(g.x(1, 4, 4, 4), g.x(2, 2, 3, 3), g.x(1, 36, 4, 4), group=2, offset_group=2, pads=[1, 1, 1, 1])
    yield g.case(g.x(1, 2, 5, 5), g.x(2, 2, 2, 2), g.x(1, 8, 2, 2), strides=[2, 2])
    yield g.case(g.x(1, 2, 5, 5), g.x(2, 2, 2, 2), g.x(1, 8, 3, 3), dilations=[2, 2])


def sample(g: Gen) -> Iterator[OpCase]:
    modes = ("bilinear", "nearest", "bicubic") if g.version < 20 else ("linear", "nearest", "cubic")
    for mode, padding, corners in product((None, *modes), (None, "zeros", "border", "reflection"), (None, 1)):
        options = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        yield g.case(g.x(2, 2, 4, 5), g.x(2, 3, 2, 2, low=-1.3, high=1.3), **options)
        if g.version >= 20 and mode != "cubic":
            yield g.case(g.x(1, 2, 3, 4, 2), g.x(1, 2, 3, 2, 3, low=-1.3, high=1.3), **options)
    for dtype in g.some_dtypes():
        if dtype.kind == "f":
            yield g.case(g.x(1, 1, 3, 3, dtype=dtype), g.x(1, 2, 2, 2, low=-1, high=1, dtype=dtype))


def affine_grid(g: Gen) -> Iterator[OpCase]:
    for corners in (None, 1):
        for batch in (1, 2):
            yield g.case(g.x(batch, 2, 3), ints(batch, 3, 4, 5), align_corners=corners)
            yield g.case(g.x(batch, 3, 4), ints(batch, 3, 2, 4, 5), align_corners=corners)
            yield g.case(g.x(batch, 2, 3), ints(batch, 3, 1, 1), align_corners=corners)


WINDOWS = {
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"), global_pool),
    "Conv": convolution,
    "ConvTranspose": transposed,
    "ConvInteger": integer_convolution,
    "QLinearConv": quantized_convolution,
    "MaxUnpool": unpool,
    "MaxRoiPool": roi_pool,
    "RoiAlign": roi_align,
    "Col2Im": column_image,
    "DeformConv": deformed,
    "GridSample": sample,
    "AffineGrid": affine_grid,
}
