"""Operators of com.microsoft that are computed as they are: inverses of matrices, and crops of pictures (ONNX Runtime,
ContribOperators.md; crop_and_resize of TensorFlow)."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.ports import Tensor

_ROUNDING = 4 * 2.0**-24


class Inverse(OpRun):
    """Of the matrices along the last two axes."""

    op_domain = "com.microsoft"

    def _run(self, x: Tensor) -> tuple[Tensor]:
        if x.dtype == np.float16:
            return (np.linalg.inv(x.astype(np.float32)).astype(x.dtype),)
        return (np.asarray(np.linalg.inv(x)),)


class CropAndResize(OpRun):
    """Regions (y1, x1, y2, x2) of a picture whose corners are 0 and 1, each sampled on a grid whose corners are those of the region.
    What lies outside of the picture is `extrapolation_value`."""

    op_domain = "com.microsoft"

    def _run(
        self,
        x: Tensor,
        regions: Tensor,
        batch: Tensor,
        sizes: Tensor,
        extrapolation_value: float = 0.0,
        mode: Any = "bilinear",
    ) -> tuple[Tensor]:
        tall, wide = (int(size) for size in sizes)
        y = np.full((len(regions), x.shape[1], tall, wide), extrapolation_value, x.dtype)
        for number, (y1, x1, y2, x2) in enumerate(regions):
            rows, columns = _line(y1, y2, tall, x.shape[2]), _line(x1, x2, wide, x.shape[3])
            inside = [_inside(rows, x.shape[2]), _inside(columns, x.shape[3])]
            where = np.ix_(*inside)
            picture = x[int(batch[number])]
            array = _sampled(picture, rows[inside[0]], columns[inside[1]], nearest=mode == "nearest")
            y[number][(slice(None), *where)] = array
        return (y,)


def _line(first: Any, last: Any, count: int, size: int) -> Tensor:
    """Places of the grid along one axis; that of a single one is the middle. Those that only a rounding of single precision puts
    outside of the picture lie on its border, as the corners of a whole picture do."""
    first, last = float(first), float(last)
    steps = np.linspace(first, last, count) if count > 1 else np.array([(first + last) / 2])
    places = steps * (size - 1)
    kept = np.clip(places, 0, size - 1)
    return np.asarray(np.where(np.abs(places - kept) <= _ROUNDING * size, kept, places))


def _inside(places: Tensor, size: int) -> Tensor:
    return np.flatnonzero((places >= 0) & (places <= size - 1))


def _sampled(picture: Tensor, rows: Tensor, columns: Tensor, *, nearest: bool) -> Tensor:
    if nearest:
        at = [np.floor(array + 0.5).astype(np.int64) for array in (rows, columns)]
        return np.asarray(picture[:, at[0][:, None], at[1][None]])
    return _between(_between(picture, rows, 1), columns, 2)


def _between(picture: Tensor, places: Tensor, axis: int) -> Tensor:
    low, high = np.floor(places).astype(np.int64), np.ceil(places).astype(np.int64)
    share = (
        (places - low).astype(picture.dtype).reshape([-1 if number == axis else 1 for number in range(picture.ndim)])
    )
    first, second = np.take(picture, low, axis), np.take(picture, high, axis)
    return np.asarray(first + (second - first) * share)
