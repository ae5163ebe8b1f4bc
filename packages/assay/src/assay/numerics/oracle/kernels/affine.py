"""AffineGrid (ONNX 20): where each pixel of a sampled picture comes from. The standard's own decomposition loses a batch of
one to a Squeeze."""

from __future__ import annotations

import numpy as np

from assay.numerics.oracle.hooks import Call, Kernel, Values
from assay.ports import Tensor


def _centres(count: int, aligned: bool, dtype: np.dtype[np.generic]) -> Tensor:
    """Of `count` pixels in [-1, 1]; aligned corners lie on the bounds."""
    places = np.arange(count, dtype=np.float64)
    found = (2 * places / (count - 1) - 1) if aligned and count > 1 else (2 * places + 1) / count - 1
    return found.astype(dtype)


def affine_grid(call: Call) -> Values | None:
    """(x, y[, z], 1) of every pixel times theta, the last axis first: coordinates in the order x, y, z."""
    theta, size = call.inputs[:2]
    counts = [int(one) for one in size[2:]]
    if theta.ndim != 3 or theta.shape[1:] != (len(counts), len(counts) + 1):
        return None
    aligned = bool(call.attributes.get("align_corners"))
    axes = np.meshgrid(*(_centres(one, aligned, theta.dtype) for one in counts), indexing="ij")
    points = np.stack([*reversed(axes), np.ones(counts, theta.dtype)], axis=-1)
    shape = (theta.shape[0], *counts, len(counts))
    flat = points.reshape(1, -1, points.shape[-1])

    def grid(left: Tensor, right: Tensor) -> Tensor:
        return (left @ right.swapaxes(1, 2)).reshape(shape)

    found = call.mark(
        "sum", grid(flat, theta), terms=theta.shape[2] + 2, squares=lambda: grid(np.square(flat), np.square(theta))
    )
    return (found,)


AFFINE: dict[str, Kernel] = {"AffineGrid": affine_grid}
