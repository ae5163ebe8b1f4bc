"""AffineGrid."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, size_of
from assay.numerics.shapes.values import Node, Value
from assay.ports import Tensor


def _centres(count: int, aligned: bool, dtype: np.dtype[np.generic]) -> Tensor:
    """Of `count` pixels in [-1, 1]; aligned corners lie on the bounds."""
    places = np.arange(count, dtype=np.float64)
    array = (2 * places / (count - 1) - 1) if aligned and count > 1 else (2 * places + 1) / count - 1
    return array.astype(dtype)


def affine_grid(call: Call) -> Values | None:
    """(x, y[, z], 1) of every pixel times theta, the last axis first: coordinates in the order x, y, z."""
    theta, size = call.inputs[:2]
    counts = [int(count) for count in size[2:]]
    if theta.ndim != 3 or theta.shape[1:] != (len(counts), len(counts) + 1):
        return None
    aligned = bool(call.attributes.get("align_corners"))
    axes = np.meshgrid(*(_centres(count, aligned, theta.dtype) for count in counts), indexing="ij")
    points = np.stack([*reversed(axes), np.ones(counts, theta.dtype)], axis=-1)
    shape = (theta.shape[0], *counts, len(counts))
    flat = points.reshape(1, -1, points.shape[-1])

    def grid(left: Tensor, right: Tensor) -> Tensor:
        return (left @ right.swapaxes(1, 2)).reshape(shape)

    array = call.mark(
        "sum", grid(flat, theta), terms=theta.shape[2] + 2, squares=lambda: grid(np.square(flat), np.square(theta))
    )
    return (array,)


def _grid_size_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    batch, rank = size_of(inputs, 0, 0), size_of(inputs, 1, 0)
    if batch is not None and rank is not None:
        yield 1, Need(1, inf, COUNT, exact=(float(batch), 1.0, *[4.0] * (rank - 2)))


OPERATORS: tuple[OnnxOperator, ...] = (*alike("AffineGrid", kernel=affine_grid, ranges=_grid_size_ranges),)
