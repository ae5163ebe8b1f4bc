"""DeformConv (ONNX 22) on pictures: each weight meets the picture at a place of its own, between pixels, 0 outside.

onnx.reference 1.23 goes place by place and keeps coordinates in float32 whatever it is given.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.ops.op_deform_conv import DeformConv as _DeformConv

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.shapes.constraints import Conflict, text
from assay.ports import Tensor


class DeformConv(_DeformConv):
    """X (batch, channel, rows, columns), offsets (batch, group x kernel x 2, rows, columns), a mask likewise without the 2."""

    op_domain = ""

    def _run(
        self,
        x: Tensor,
        w: Tensor,
        offset: Tensor,
        b: Tensor | None = None,
        mask: Tensor | None = None,
        **attributes: Any,
    ) -> tuple[Tensor, ...]:
        if x.ndim != 4 or x.dtype.name not in ("float32", "float64"):
            arrays: tuple[Tensor, ...] = super()._run(x, w, offset, b, mask, **attributes)
            return arrays
        kernel, shape = w.shape[2:], offset.shape[2:]
        groups, parts = stated(attributes, "group", 1), stated(attributes, "offset_group", 1)
        if x.shape[1] != w.shape[1] * groups or offset.shape[1] != parts * kernel[0] * kernel[1] * 2:
            raise Conflict(
                ConstraintCode.DEFORMED, shape=text(x.shape), weight=text(w.shape), offset=text(offset.shape)
            )
        moved = offset.reshape(len(x), parts, *kernel, 2, *shape)
        places = [_places(axis, kernel, shape, attributes) + moved[:, :, :, :, axis] for axis in range(2)]
        picked = x.reshape(len(x), parts, -1, *x.shape[2:])
        sampled = np.stack(
            [_between(picked[:, part], places[0][:, part], places[1][:, part]) for part in range(parts)], 1
        )
        if mask is not None:
            sampled = sampled * mask.reshape(len(x), parts, 1, *kernel, *shape)
        sampled = sampled.reshape(len(x), groups, w.shape[1], *kernel, *shape)
        weights = w.reshape(groups, -1, *w.shape[1:])
        y = np.einsum("ngcklij,gockl->ngoij", sampled, weights, optimize=True).reshape(len(x), -1, *shape)
        return (np.asarray(y if b is None else y + b.reshape(1, -1, 1, 1), x.dtype),)


def _places(axis: int, kernel: tuple[int, ...], shape: tuple[int, ...], attributes: dict[str, Any]) -> Tensor:
    """(kernel ..., out ...): where each weight lies without an offset."""
    stride = (stated(attributes, "strides", [1, 1]))[axis]
    step = (stated(attributes, "dilations", [1, 1]))[axis]
    first = (stated(attributes, "pads", [0] * 4))[axis]
    inside, out = np.arange(kernel[axis]) * step, np.arange(shape[axis]) * stride - first
    grid = inside[:, None] + out[None, :]
    array: Tensor = grid[:, None, :, None] if axis == 0 else grid[None, :, None, :]
    return array


def _between(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """(batch, channel, kernel ..., out ...), linear between pixels, from rows and columns (batch, kernel ..., out ...)."""
    top, left = np.floor(rows), np.floor(columns)
    batch = np.arange(len(x)).reshape(-1, *[1] * (rows.ndim - 1))
    last = np.moveaxis(x, 1, -1)
    total: Any = 0.0
    for down in (0, 1):
        for right in (0, 1):
            i, j = top + down, left + right
            share = (1 - np.abs(rows - i)) * (1 - np.abs(columns - j))
            inside = (i >= 0) & (i < x.shape[2]) & (j >= 0) & (j < x.shape[3])
            at = np.where(inside, i, 0).astype(np.int64), np.where(inside, j, 0).astype(np.int64)
            total = total + last[(batch, *at)] * np.where(inside, share, 0)[..., None]
    return np.asarray(np.moveaxis(total, -1, 1))
