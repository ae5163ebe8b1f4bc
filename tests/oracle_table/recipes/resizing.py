"""Pictures of another size: modes, coordinates, roundings, crops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from oracle_table.case import Array, OpCase
from oracle_table.gen import Gen, ints


def resize(g: Gen) -> Iterator[OpCase]:
    modes = ("nearest", "linear", "cubic") if g.version >= 11 else ("nearest", "linear")
    if g.version < 11:
        for mode in (None, *modes):
            for scales in ((1, 1, 2, 2), (1, 1, 1, 2), (1, 1, 0.6, 0.5), (1, 1, 1.5, 2.5)):
                if g.schema.name == "Upsample":
                    if min(scales) >= 1 and g.version == 1:
                        yield g.case(g.x(1, 2, 3, 4), mode=mode, height_scale=scales[2], width_scale=scales[3])
                    elif min(scales) >= 1 and g.version < 9:
                        yield g.case(g.x(1, 2, 3, 4), mode=mode, scales=[float(one) for one in scales])
                    elif min(scales) >= 1:
                        yield g.case(g.x(1, 2, 3, 4), np.array(scales, np.float32), mode=mode)
                else:
                    yield g.case(g.x(1, 2, 3, 4), np.array(scales, np.float32), mode=mode)
        return
    ways = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
    ways += ("half_pixel_symmetric",) if g.version >= 19 else ("tf_half_pixel_for_nn",) if g.version == 11 else ()
    for mode, way, sized in product((None, *modes), (None, *ways), (False, True)):
        yield from _resized(g, mode, way, sized)
    for mode in modes[1:]:
        if g.has("antialias"):
            yield g.case(g.x(1, 2, 6, 7), None, np.array([1, 1, 0.5, 0.6], np.float32), mode=mode, antialias=1)
            yield g.case(g.x(1, 2, 6, 7), None, np.array([1, 1, 2, 1.6], np.float32), mode=mode, antialias=1)
    if g.has("axes"):
        for policy in ("stretch", "not_larger", "not_smaller"):
            yield g.case(
                g.x(1, 2, 4, 6), None, None, ints(3, 7), mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy
            )
        yield g.case(g.x(1, 2, 4, 6), None, np.array([2, 0.5], np.float32), mode="nearest", axes=[3, 2])
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        for scale in (0.5, 0.7, 1.5, 2):
            yield g.case(
                g.x(1, 1, 5, 4),
                _roi(g),
                np.array([1, 1, scale, scale], np.float32),
                mode="nearest",
                nearest_mode=nearest,
            )
    for options in ({"exclude_outside": 1}, {"cubic_coeff_a": -0.5}, {"exclude_outside": 1, "cubic_coeff_a": -0.5}):
        for scale in (0.6, 1.7):
            yield g.case(g.x(1, 1, 5, 4), _roi(g), np.array([1, 1, scale, scale], np.float32), mode="cubic", **options)
    for dtype in g.some_dtypes():
        yield g.case(g.x(1, 1, 2, 3, dtype=dtype), _roi(g), np.array([1, 1, 2, 2], np.float32))
    yield g.case(g.x(1, 2, 5), _roi(g), np.array([1, 1, 1.4], np.float32), mode="linear")
    yield g.case(g.x(1, 1, 3, 2, 3), _roi(g), np.array([1, 1, 1.4, 2, 0.7], np.float32), mode="linear")


def _roi(g: Gen) -> Array | None:
    return None if g.version >= 13 else np.array([], np.float32)


def _resized(g: Gen, mode: Any, way: Any, sized: bool) -> Iterator[OpCase]:
    x = g.x(1, 2, 4, 5)
    roi: Any = np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 0.8], np.float32) if way == "tf_crop_and_resize" else _roi(g)
    for factors, sizes in (
        ((1, 1, 2, 1.5), (1, 2, 8, 7)),
        ((1, 1, 0.5, 0.7), (1, 2, 2, 3)),
        ((1, 1, 1, 3), (1, 2, 1, 1)),
    ):
        scales: Any = np.array(factors, np.float32)
        if sized:
            scales = np.array([], np.float32) if g.version < 13 else None
        yield g.case(x, roi, scales, ints(*sizes) if sized else None, mode=mode, coordinate_transformation_mode=way)


RESIZING: dict[str, Any] = dict.fromkeys(("Resize", "Upsample"), resize)
