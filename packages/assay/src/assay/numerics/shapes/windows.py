"""Windows that slide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.shapes.constraints import Conflict, Walk
from assay.numerics.shapes.values import Dims, Node


def slide(node: Node, spatial: Dims, kernel: Sequence[int | None], scope: Walk, padded: int = 0) -> list[int | None]:
    """The sizes along spatial axes of what a sliding window gives, where a Pad added so many elements at the end of the last one. Raises
    Conflict."""
    rank = len(spatial)
    strides = stated(node.attributes, "strides", [1] * rank)
    dilations = stated(node.attributes, "dilations", [1] * rank)
    pads = stated(node.attributes, "pads", [0] * (2 * rank))
    auto = node.attributes.get("auto_pad", "NOTSET")
    up = node.attributes.get("ceil_mode", 0)
    dims: list[int | None] = []
    for axis, size in enumerate(spatial):
        window = kernel[axis]
        if size is None or window is None:
            dims.append(None)
            continue
        scope.narrow += window > 1 and size < window
        if auto.startswith("SAME"):
            dims.append(ceil(size / strides[axis]))
            continue
        padding = 0 if auto == "VALID" else pads[axis] + pads[axis + rank]
        reach = (window - 1) * dilations[axis] + 1
        steps = (size + padding - reach) / strides[axis]
        dims.append((ceil(steps) if up else floor(steps)) + 1)
        if size + padding < reach:
            raise Conflict(ConstraintCode.WINDOW, (size, reach - padding), window=reach, size=size, padding=padding)
        left = 0 if up else (size + padding - reach) % strides[axis]
        if padded and axis == rank - 1 and left - (padding and pads[-1]) >= padded:
            scope.narrow += 1
            scope.unread = max(scope.unread, strides[axis] - left)
    return dims


def is_negative_same(kernel: Sequence[int], attributes: Mapping[str, Any]) -> bool:
    """Whether SAME asks a transposed convolution for negative padding: a stride wider than what one element reaches. The text of
    ConvTranspose gives a length that onnx's shape inference does not give, and no side on which nothing is added."""
    ones = [1] * len(kernel)
    strides, dilations = stated(attributes, "strides", ones), stated(attributes, "dilations", ones)
    extra = stated(attributes, "output_padding", [0] * len(kernel))
    return stated(attributes, "auto_pad", "NOTSET").startswith("SAME") and any(
        (size - 1) * dilation + 1 + more < stride
        for size, dilation, more, stride in zip(kernel, dilations, extra, strides, strict=True)
    )
