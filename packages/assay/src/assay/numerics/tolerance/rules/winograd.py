"""The noise of convolutions by Winograd's algorithm, whose transforms are worse conditioned than the sum that they replace.

y = A^T [(G w) * (B^T x)] in each dimension, on tiles of n inputs that give n - k + 1 outputs of a kernel of k. The matrices are
those of Toom and Cook for n - 1 points and infinity (Lavin and Gray 2016; Barabasz et al. 2020, Error analysis and improving
the accuracy of Winograd convolution, on how noise grows with the size of the points).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from assay.numerics.oracle.hooks import Call
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import RuleSite, Variance
from assay.numerics.tolerance.rules.window_filters import average, largest
from assay.ports import Tensor

SMALL, LARGE = 6, 8
"""The largest tiles of `winograd` and of `winograd-8x8`."""
_TRANSFORMS = 3.0


def winograd(site: RuleSite, unit: Arithmetic) -> Variance:
    """Sums over channels in the transformed space: their noise is that of the whole tile, whatever cancels at one pixel. 0 where
    a convolution has no such form."""
    tile = _tile(site.call, unit.winograd_tile, site.value.shape) if unit.winograd else 0
    if not tile:
        return 0.0
    x, w = site.call.inputs[:2]
    window = (1, 1, tile, tile)
    level = largest(average(x * x, window), window)
    spread = np.broadcast_to(np.mean(w * w, axis=(2, 3), keepdims=True), w.shape)
    squares = np.maximum(site.again(np.maximum(level, 0), np.ascontiguousarray(spread))[0], 0)
    grown = amplification(tile, w.shape[2])
    if tile <= SMALL:
        return unit.accumulate**2 / 3 * grown.mean() * (w.shape[1] / 2 + _TRANSFORMS) * squares
    # The last outputs of a large tile are far worse than the first, and tiles start at the corner; a transform is two sums of as
    # many terms as a tile has, one in each dimension.
    rows, columns = (np.arange(length) % len(grown) for length in site.value.shape[2:])
    return unit.accumulate**2 / 3 * grown[np.ix_(rows, columns)] * (w.shape[1] / 2 + tile) * squares


def _tile(call: Call, most: int, shape: tuple[int, ...]) -> int:
    """The largest tile that a square kernel of stride 1 may be taken in: one output of it at least lies in the picture."""
    kernel = call.inputs[1].shape[2:]
    ones = (*(call.attributes.get("strides") or ()), *(call.attributes.get("dilations") or ()))
    if call.operator != "Conv" or len(kernel) != 2 or kernel[0] != kernel[1] or kernel[0] < 2 or set(ones) - {1}:
        return 0
    if most == SMALL:
        return SMALL if kernel[0] == 3 else 0
    fitting = [
        tile for tile in (4, SMALL, LARGE) if 2 <= tile - kernel[0] + 1 <= max(2.0, (shape[2] * shape[3]) ** 0.5)
    ]
    return max(fitting, default=0)


@cache
def amplification(tile: int, kernel: int) -> Tensor:
    """How much more noise of independent roundings comes out of the transforms than out of the products of a direct sum, at each
    output (p, q) of a tile: (sum over i of A_pi^2 |G_i|^2 |B_i|^2) (the same of q) / k^2."""
    at, g, bt = matrices(tile, kernel)
    row_norms = np.square(at) @ (np.square(g).sum(axis=1) * np.square(bt).sum(axis=1))
    return np.outer(row_norms, row_norms) / kernel**2


def matrices(tile: int, kernel: int) -> tuple[Tensor, Tensor, Tensor]:
    """A^T, G and B^T for the points 0, 1, -1, 2, -2, 3, -3 ... and infinity, as many as the tile needs."""
    points = [0.0, *(sign * size for size in range(1, tile // 2) for sign in (1.0, -1.0))]
    out = tile - kernel + 1
    scale = np.array([abs(np.prod([point - other for other in points if other != point])) for point in points] + [1.0])
    at, g = _powers(points, out).T, _powers(points, kernel) / scale[:, None]
    # Whatever x and w are, output p is the sum over k of x[p + k] w[k]: that is what B^T has to make of the two others.
    products = np.einsum("pi,ik->pki", at, g).reshape(out * kernel, tile)
    shifted = np.stack([np.eye(kernel, tile, p) for p in range(out)]).reshape(out * kernel, tile)
    bt, *_ = np.linalg.lstsq(products, shifted, rcond=None)
    return at, g, bt


def _powers(points: list[float], count: int) -> Tensor:
    """1, p, p^2 ... of every point; of infinity the last alone."""
    last = np.eye(1, count, count - 1)
    return np.concatenate([np.vander(points, count, increasing=True), last])
