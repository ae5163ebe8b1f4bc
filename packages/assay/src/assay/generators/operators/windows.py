"""Pools, resizing, sampling, padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, flag, form, version_has
from assay.generators.operators.linear import spatial
from assay.generators.schemas import NotMade


def _ends_inside(sizes: tuple[int, ...], given: dict[str, Any]) -> bool:
    """Whether no window starts beyond the elements and what is padded before them: until opset 22 nothing is said of such a one."""
    if "auto_pad" in given:
        return False
    ones = [1] * len(sizes)
    pads, kernel = given.get("pads", [0] * 2 * len(sizes)), given["kernel_shape"]
    strides, dilations = given.get("strides", ones), given.get("dilations", ones)
    for place, size in enumerate(sizes):
        begin, end = pads[place], pads[place + len(sizes)]
        reach = (kernel[place] - 1) * dilations[place] + 1
        windows = -((size + begin + end - reach) // -strides[place]) + 1
        if (windows - 1) * strides[place] >= size + begin:
            return False
    return True


@form("AveragePool MaxPool LpPool")
def pool(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=(*FLOATS, "int8", "uint8"))
    axes = draws.one_of((1, 2, 2, 2, 3))
    x = build.operand(
        dtype, (draws.between(1, 2), draws.between(1, 4), *(draws.between(2, 9) for _ in range(axes))), any_size=True
    )
    given = spatial(build, x.shape[2:])
    if not version_has(build, operator, "dilations"):
        given.pop("dilations", None)
    if version_has(build, operator, "ceil_mode"):
        given["ceil_mode"] = flag(build)
        if given["ceil_mode"] and not _ends_inside(x.shape[2:], given):
            given["ceil_mode"] = 0
    if operator == "AveragePool":
        given["count_include_pad"] = flag(build)
    if operator == "LpPool":
        given["p"] = draws.one_of((None, 1, 2, 3))
    return build.node(operator, [x], **given)


@form("Pad")
def pad(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    modes = ("constant", "reflect", "edge", *(("wrap",) if build.opset >= 19 else ()))
    mode = draws.one_of((None, *modes))
    dtype = build.dtype(operator, among=(*FLOATS, "int32", "int64", "uint8", "bool"))
    x = build.operand(dtype, ranks=(1, 2, 3, 4))
    lowest = -1 if mode in (None, "constant") and draws.chance(15) else 0
    ends = [
        [
            draws.between(lowest if size > 2 else 0, 2 if mode in (None, "constant") else max(0, min(2, size - 1)))
            for size in x.shape
        ]
        for _ in range(2)
    ]
    if x.rank > 2 and draws.chance(50):  # as before a layer: neither samples nor channels
        ends = [[0, 0, *side[2:]] for side in ends]
    if version_has(build, operator, "pads"):
        return build.node(operator, [x], pads=ends[0] + ends[1], mode=mode, value=draws.one_of((None, 0.0, 1.5, -2.0)))
    reads: list[Operand | None] = [x]
    axes = None
    if build.opset >= 18 and draws.chance(30):
        axes = draws.shuffled(range(x.rank))[: draws.between(1, x.rank)]
        ends = [[side[place] for place in axes] for side in ends]
    reads.append(build.steering(ends[0] + ends[1]))
    value = draws.one_of((None, 0, 1, 2))
    if value is not None or axes is not None:
        reads.append(None if value is None else build.constant(np.asarray(value).astype(dtype)))
    if axes is not None:
        reads.append(build.steering([place - x.rank if draws.chance(30) else place for place in axes]))
    return build.node(operator, reads, mode=mode)


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
    given: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": draws.one_of((None, *places))}
    if mode == "nearest":
        given["nearest_mode"] = draws.one_of((None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        given |= {"cubic_coeff_a": draws.one_of((None, -0.5)), "exclude_outside": flag(build)}
    if build.opset >= 18 and draws.chance(25) and mode != "nearest":
        given["antialias"] = 1
    empty = build.constant(np.zeros(0, "float32")) if build.opset < 13 else None
    if draws.chance(50):
        sizes = [*x.shape[:2], *(draws.between(1, 9) for _ in range(axes))]
        return build.node(operator, [x, empty, empty, build.steering(sizes)], **given)
    scales = [1.0, 1.0, *(draws.one_of((0.5, 1.0, 1.5, 2.0, 3.0, 0.75)) for _ in range(axes))]
    return build.node(operator, [x, empty, build.steering(scales, "float32")], **given)


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
    x = build.operand(
        build.dtype(operator, among=("float32", "float64")),
        (draws.between(1, 2), 2, draws.between(2, 6), draws.between(2, 6)),
    )
    grid = build.operand(x.dtype, (x.shape[0], draws.between(1, 4), draws.between(1, 4), 2), low=-1.1875, high=1.1875)
    modes = ("bilinear", "nearest", "bicubic") if build.opset < 20 else ("linear", "nearest", "cubic")
    return build.node(
        operator, [x, grid], mode=draws.one_of((None, *modes)), align_corners=flag(build),
        padding_mode=draws.one_of((None, "zeros", "border", "reflection")),
    )  # fmt: skip


@form("AffineGrid")
def affine_grid(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    theta = build.operand(build.dtype(operator, among=("float32", "float64")), (2, 2, 3), low=-1, high=1)
    corners = flag(build)  # between the corners of an axis of one element there is no step: nothing is defined
    least = 2 if corners else 1
    size = build.steering([2, draws.between(1, 3), draws.between(least, 5), draws.between(least, 5)])
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
    given: dict[str, Any] = (
        {"coordinate_transformation_mode": draws.one_of((None, "half_pixel", "output_half_pixel"))}
        if build.opset >= 16
        else {}
    )
    return build.node(
        operator, reads, mode=draws.one_of((None, "avg", "max")), output_height=draws.between(1, 3), output_width=draws.between(1, 3),
        sampling_ratio=draws.one_of((None, 0, 1, 2, 3)), spatial_scale=draws.one_of((None, 0.5, 1.0)), **given,
    )  # fmt: skip


@form("DepthToSpace SpaceToDepth")
def blocks(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    size = draws.between(1, 3)
    dtype = build.dtype(operator, among=(*FLOATS, "int32", "int64"))
    if operator == "SpaceToDepth":
        x = build.operand(
            dtype, (draws.between(1, 2), draws.between(1, 4), size * draws.between(1, 3), size * draws.between(1, 3))
        )
        return build.node(operator, [x], blocksize=size)
    x = build.operand(
        dtype, (draws.between(1, 2), size * size * draws.between(1, 3), draws.between(1, 4), draws.between(1, 4))
    )
    mode = draws.one_of((None, "DCR", "CRD")) if build.opset >= 11 else None
    return build.node(operator, [x], blocksize=size, mode=mode)


@form("LRN")
def local_response(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    x = build.operand(build.dtype(operator, among=FLOATS), ranks=(3, 4))
    return build.node(
        operator, [x], size=draws.one_of((1, 3, 5, 7)), alpha=draws.one_of((None, 0.5)), beta=draws.one_of((None, 0.5)),
        bias=draws.one_of((None, 2.0)),
    )  # fmt: skip
