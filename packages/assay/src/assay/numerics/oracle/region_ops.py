"""What onnx.reference 1.23 has no code for, or wrong code: the p-norm of a whole picture, the maximum of rectangular regions,
the response of neighbouring channels.

Definitions: the ONNX operator specification, GlobalLpPool-22, MaxRoiPool-22, LRN-13; the bounds of a region's cells as in Girshick
2015 (Fast R-CNN), which MaxRoiPool cites.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.ports import Tensor


class GlobalLpPool(OpRun):
    """(sum of |x|^p)^(1/p) over all axes behind the channel, which stay as axes of one element."""

    op_domain = ""

    def _run(self, x: Tensor, p: Any = 2) -> tuple[Tensor]:
        axes = tuple(range(2, x.ndim))
        total = np.sum(np.abs(x) ** p, axis=axes, keepdims=True)
        return ((total ** (1 / p)).astype(x.dtype),)


class MaxRoiPool(OpRun):
    """The maximum of each cell of a grid laid over each region (batch index, x1, y1, x2, y2); an empty cell gives 0."""

    op_domain = ""

    def _run(
        self, x: Tensor, regions: Tensor, pooled_shape: Sequence[int] = (), spatial_scale: float = 1.0
    ) -> tuple[Tensor]:
        tall, wide = (int(size) for size in pooled_shape)
        y = np.zeros((len(regions), x.shape[1], tall, wide), x.dtype)
        for number, (batch, *corners) in enumerate(regions):
            left, top, right, bottom = (_half_away(float(corner) * spatial_scale) for corner in corners)
            rows, columns = _cells(top, bottom, tall, x.shape[2]), _cells(left, right, wide, x.shape[3])
            for i, (y0, y1) in enumerate(rows):
                for j, (x0, x1) in enumerate(columns):
                    if y1 > y0 and x1 > x0:
                        y[number, :, i, j] = x[int(batch), :, y0:y1, x0:x1].max(axis=(1, 2))
        return (y,)


class LRN(OpRun):
    """x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta. That of onnx.reference 1.23 counts
    the channels by the length of the batch: where that is shorter, the others are left as if their neighbours were 0."""

    op_domain = ""

    def _run(
        self, x: Tensor, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int = 1
    ) -> tuple[Tensor]:
        squares = x * x
        before, behind = (size - 1) // 2, size // 2
        total = np.empty_like(squares)
        for channel in range(x.shape[1]):
            near = squares[:, max(0, channel - before) : channel + behind + 1]
            total[:, channel] = near.sum(axis=1)
        return ((x / (bias + alpha / size * total) ** beta).astype(x.dtype),)


def _half_away(value: float) -> int:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _cells(first: int, last: int, count: int, size: int) -> list[tuple[int, int]]:
    length = max(last - first + 1, 1) / count
    edges = ((math.floor(k * length) + first, math.ceil((k + 1) * length) + first) for k in range(count))
    return [(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]
