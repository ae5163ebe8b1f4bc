"""Pools, padding, blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.generators.build import Build, Operand
from assay.generators.operators.form import FLOATS, flag, form, version_has
from assay.generators.operators.linear import spatial


def _ends_inside(sizes: tuple[int, ...], attributes: dict[str, Any]) -> bool:
    """Whether no window starts beyond the elements and what is padded before them: until opset 22 nothing is said of such a one."""
    if "auto_pad" in attributes:
        return False
    ones = [1] * len(sizes)
    pads, kernel = attributes.get("pads", [0] * 2 * len(sizes)), attributes["kernel_shape"]
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
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
        dtype,
        (draws.between(1, 2), build.size((1, 2, 3, 4)), *(build.size(range(2, 10)) for _ in range(axes))),
        any_size=True,
    )
    attributes = spatial(build, x.shape[2:])
    if not version_has(build, operator, "dilations"):
        attributes.pop("dilations", None)
    if version_has(build, operator, "ceil_mode"):
        attributes["ceil_mode"] = flag(build)
        if attributes["ceil_mode"] and not _ends_inside(x.shape[2:], attributes):
            attributes["ceil_mode"] = 0
    if operator == "MaxPool" and draws.chance(35):
        attributes["storage_order"] = flag(build)
        return build.node(operator, [x], 2, **attributes)
    if operator == "AveragePool":
        attributes["count_include_pad"] = flag(build)
    if operator == "LpPool":
        attributes["p"] = draws.one_of((None, 1, 2, 3))
    return build.node(operator, [x], **attributes)


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
