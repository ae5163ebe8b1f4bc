"""Resizing and sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, flag, form, version_has
from assay.generators.operators.linear import spatial
from assay.generators.schemas import NotMade


@form("Resize")
def resize(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    if build.opset < 11:
        raise NotMade
    dtype = build.dtype(operator, among=FLOATS)
    axes = draws.one_of((1, 2, 2))
    x = build.operand(dtype, (1, draws.between(1, 3), *(draws.between(2, 7) for _ in range(axes))), any_size=True)
    mode = draws.one_of(("nearest", "linear", "cubic") if axes == 2 else ("nearest", "linear"))
    places = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    places += ["half_pixel_symmetric"] if build.opset >= 19 else []
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": draws.one_of((None, *places))}
    if mode == "nearest":
        attributes["nearest_mode"] = draws.one_of((None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": draws.one_of((None, -0.5)), "exclude_outside": flag(build)}
    if build.opset >= 18 and draws.chance(25) and mode != "nearest":
        attributes["antialias"] = 1
    if build.opset >= 18 and draws.chance(30):
        return build.node(operator, [x, None, *_named_axes(build, x, attributes)], **attributes)
    empty = build.constant(np.zeros(0, "float32")) if build.opset < 13 else None
    if draws.chance(50):
        sizes = [*x.shape[:2], *(draws.between(1, 9) for _ in range(axes))]
        return build.node(operator, [x, empty, empty, build.steering(sizes)], **attributes)
    scales = [1.0, 1.0, *(draws.one_of((0.5, 1.0, 1.5, 2.0, 3.0, 0.75)) for _ in range(axes))]
    return build.node(operator, [x, empty, build.steering(scales, "float32")], **attributes)


def _named_axes(build: Build, x: Operand, attributes: dict[str, Any]) -> list[Operand | None]:
    """Scales or sizes of the last axes alone, in any order; sizes that keep the ratio of the sides."""
    draws = build.draws
    places = draws.shuffled(range(2, x.rank))
    attributes["axes"] = [place - x.rank if draws.chance(30) else place for place in places]
    if draws.chance(40):
        return [build.steering([draws.one_of((0.5, 1.0, 1.5, 2.0, 3.0)) for _ in places], "float32")]
    attributes["keep_aspect_ratio_policy"] = draws.one_of((None, "stretch", "not_larger", "not_smaller"))
    return [None, build.steering([draws.between(1, 9) for _ in places])]


@form("Upsample")
def upsample(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = build.operand(build.dtype(operator, among=("float32",)), (1, 2, draws.between(1, 5), draws.between(1, 5)))
    scales = [1.0, 1.0, draws.one_of((1.0, 2.0, 3.0)), draws.one_of((1.0, 2.0, 1.5))]
    mode = draws.one_of((None, "nearest", "linear"))
    if version_has(build, operator, "scales"):
        return build.node(operator, [x], scales=scales, mode=mode)
    return build.node(operator, [x, build.steering(scales, "float32")], mode=mode)


@form("GridSample")
def grid_sample(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    axes = draws.one_of((2, 2, 3)) if build.opset >= 20 else 2
    x = build.operand(
        build.dtype(operator, among=("float32", "float64")),
        (draws.between(1, 2), 2, *(draws.between(2, 6 if axes == 2 else 4) for _ in range(axes))),
    )
    places = (draws.between(1, 4 if axes == 2 else 3) for _ in range(axes))
    grid = build.operand(x.dtype, (x.shape[0], *places, axes), low=-1.1875, high=1.1875)
    modes: tuple[str, ...] = ("bilinear", "nearest", "bicubic") if build.opset < 20 else ("linear", "nearest", "cubic")
    modes = modes[:2] if axes == 3 else modes
    return build.node(
        operator, [x, grid], mode=draws.one_of((None, *modes)), align_corners=flag(build),
        padding_mode=draws.one_of((None, "zeros", "border", "reflection")),
    )  # fmt: skip


@form("AffineGrid")
def affine_grid(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    axes = draws.one_of((2, 2, 3))
    theta = build.operand(build.dtype(operator, among=("float32", "float64")), (2, axes, axes + 1), low=-1, high=1)
    corners = flag(build)  # between the corners of an axis of one element there is no step: nothing is defined
    least = 2 if corners else 1
    size = build.steering([2, draws.between(1, 3), *(draws.between(least, 5) for _ in range(axes))])
    return build.node(operator, [theta, size], align_corners=corners)


@form("RoiAlign")
def roi_align(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = build.operand(
        build.dtype(operator, among=("float32", "float64")),
        (2, draws.between(1, 3), draws.between(4, 9), draws.between(4, 9)),
    )
    count = draws.between(1, 3)
    corners = draws.reals((count, 2), 0.0, 3.0)
    boxes = np.concatenate([corners, corners + draws.reals((count, 2), 0.5, 5.0)], axis=1).astype(x.dtype)
    reads = [x, build.input(boxes), build.input(draws.wholes((count,), 0, 1))]
    attributes: dict[str, Any] = (
        {"coordinate_transformation_mode": draws.one_of((None, "half_pixel", "output_half_pixel"))}
        if build.opset >= 16
        else {}
    )
    return build.node(
        operator, reads, mode=draws.one_of((None, "avg", "max")), output_height=draws.between(1, 3), output_width=draws.between(1, 3),
        sampling_ratio=draws.one_of((None, 0, 1, 2, 3)), spatial_scale=draws.one_of((None, 0.5, 1.0)), **attributes,
    )  # fmt: skip


@form("DeformConv")
def deformed(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32", "float64"))
    groups, shifts = draws.one_of((1, 1, 2)), draws.one_of((1, 1, 2))
    channels, out = 2 * draws.between(1, 2), groups * draws.between(1, 2)
    x = build.operand(dtype, (draws.between(1, 2), channels, draws.between(3, 6), draws.between(3, 6)), low=-2, high=2)
    attributes = spatial(build, x.shape[2:], 3)
    attributes.pop("auto_pad", None)
    kernel, ones = attributes["kernel_shape"], [1, 1]
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
    pads = attributes.get("pads", [0] * 4)
    sizes = [
        (x.shape[2 + n] + pads[n] + pads[n + 2] - (kernel[n] - 1) * dilations[n] - 1) // strides[n] + 1 for n in (0, 1)
    ]
    window = kernel[0] * kernel[1]
    reads = [x, build.operand(dtype, (out, channels // groups, *kernel), low=-1, high=1, fixed=80)]
    reads.append(build.operand(dtype, (x.shape[0], shifts * window * 2, *sizes), low=-1.5, high=1.5))
    bias = build.operand(dtype, (out,), low=-1, high=1) if draws.chance(50) else None
    more = [build.operand(dtype, (x.shape[0], shifts * window, *sizes), low=0, high=1)] if draws.chance(50) else []
    all_reads = [*reads, bias, *more] if bias is not None or more else reads
    return build.node(operator, all_reads, group=groups, offset_group=shifts, **attributes)


@form("MaxUnpool")
def unpooled(build: Build, operator: str) -> list[Operand]:
    """Behind the pool whose places it reads. Windows that do not overlap: no place is written twice. They fill the whole: places are those
    of what was pooled, and of another size they would be others."""
    draws = build.draws
    axes, width = draws.one_of((1, 2, 2, 3)), draws.between(1, 3)
    x = build.operand(
        "float32",
        (draws.between(1, 2), draws.between(1, 3), *(width * draws.between(1, 7 // width) for _ in range(axes))),
    )
    attributes: dict[str, Any] = {"kernel_shape": [width] * axes, "strides": [width] * axes}
    most, places = build.node("MaxPool", [x], 2, **attributes)
    return build.node(operator, [most, places], **attributes)


@form("MaxRoiPool")
def region_pool(build: Build, operator: str) -> list[Operand]:
    """Regions at whole places that the bins divide: how others are rounded is not said."""
    draws = build.draws
    bins = draws.between(1, 3)
    size = bins * draws.between(1, 2)
    x = build.operand("float32", (2, draws.between(1, 3), 8, 8))
    count = draws.between(1, 3)
    corners = draws.wholes((count, 2), 0, 8 - size)
    boxes = np.concatenate([draws.wholes((count, 1), 0, 1), corners, corners + size - 1], axis=1).astype(np.float32)
    return build.node(operator, [x, build.input(boxes)], pooled_shape=[bins, bins])
