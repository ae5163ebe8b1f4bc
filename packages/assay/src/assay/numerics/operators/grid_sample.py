"""GridSample in any number of dimensions (ONNX 22): one gather for each neighbour, of the whole picture at once.

onnx.reference 1.23 goes pixel by pixel, and keeps coordinates and cubic weights in float32 whatever it is given.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.mutations import PICTURE
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Inputs, Walk, at, equal, plain
from assay.numerics.shapes.needed_values import Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.rounding_rules import text_of
from assay.numerics.tolerance.rules.sampling import sampling
from assay.ports import Tensor

if TYPE_CHECKING:
    from assay.numerics.oracle.contrib.body import Body

_MODES = {"bilinear": "linear", "bicubic": "cubic"}

_CUBIC = -0.75


def grid_sample(call: Call) -> Values | None:
    """X (batch, channel, spatial ...), grid (batch, out ..., dimensions), the last axis in reverse order of the spatial axes."""
    x, grid = call.inputs[:2]
    mode, padding = (text_of(call.attributes.get(name)) for name in ("mode", "padding_mode"))
    mode, corners = _MODES.get(mode, mode), bool(call.attributes.get("align_corners"))
    sizes, places = x.shape[2:], grid.shape[1:-1]
    if 0 in (*x.shape, *grid.shape):
        return None
    flat = grid.reshape(grid.shape[0], -1, len(sizes))
    neighbours = []
    for axis, size in enumerate(sizes):
        at = _denormalized(flat[..., len(sizes) - 1 - axis], size, corners)
        neighbours.append(_neighbours(at, size, mode, padding, corners))
    batch = np.arange(x.shape[0])[:, None]
    y = np.zeros((x.shape[0], flat.shape[1], x.shape[1]), x.dtype)
    last = np.moveaxis(x, 1, -1)
    for corner in itertools.product(*neighbours):
        weight = np.ones(flat.shape[:2], x.dtype)
        index = []
        for at, share, size in ((*neighbour, size) for neighbour, size in zip(corner, sizes, strict=True)):
            place, inside = _padded(at, size, padding, corners)
            weight = weight * np.where(inside, share, 0).astype(x.dtype)
            index.append(place)
        y += last[(batch, *index)] * weight[..., None]
    return (np.ascontiguousarray(np.moveaxis(y, -1, 1)).reshape(x.shape[0], x.shape[1], *places),)


def _denormalized(n: Tensor, size: int, corners: bool) -> Tensor:
    """From [-1, 1] to pixels."""
    return (n + 1) / 2 * (size - 1) if corners else ((n + 1) * size - 1) / 2


def _neighbours(at: Tensor, size: int, mode: str, padding: str, corners: bool) -> list[tuple[Tensor, Any]]:
    """(pixel, weight) along one axis. Cubic: the padding is that of each pixel, not of the place between them, as torch and ONNX
    Runtime have it; onnx.reference 1.23 moves the place first."""
    if mode == "cubic":
        padding = "none"
    if mode == "nearest":
        at = np.rint(at)
    if padding == "border" and mode != "cubic":  # whose neighbours are cut, each by itself, as PyTorch has it
        at = np.clip(at, 0, size - 1)
    elif padding == "reflection":
        at = _reflected(at, size, corners)
    if mode == "nearest":
        return [(np.rint(at), 1.0)]
    low = np.floor(at)
    t = at - low
    if mode == "linear":
        return [(low, 1 - t), (low + 1, t)]
    return [(low - 1, _far(t + 1)), (low, _near(t)), (low + 1, _near(1 - t)), (low + 2, _far(2 - t))]


def _near(t: Tensor) -> Tensor:
    """Keys' cubic convolution for |t| <= 1."""
    result: Tensor = ((_CUBIC + 2) * t - (_CUBIC + 3)) * t * t + 1
    return result


def _far(t: Tensor) -> Tensor:
    """The same for 1 < |t| < 2."""
    result: Tensor = ((_CUBIC * t - 5 * _CUBIC) * t + 8 * _CUBIC) * t - 4 * _CUBIC
    return result


def _padded(at: Tensor, size: int, padding: str, corners: bool) -> tuple[Tensor, Tensor]:
    """Indices inside the picture, and whether the neighbour counts."""
    inside = (at >= 0) & (at <= size - 1)
    if padding == "reflection":
        at = np.where(inside, at, np.trunc(_reflected(at, size, corners)))
        inside = np.ones_like(inside)
    elif padding == "border":
        inside = np.ones_like(inside)
    return np.clip(np.nan_to_num(at), 0, size - 1).astype(np.int64), inside


def _reflected(at: Tensor, size: int, corners: bool) -> Tensor:
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    span = high - low
    if span == 0:
        return np.full_like(at, low)
    over = np.where(at < low, low - at, np.where(at > high, at - high, 0))
    turns, rest = np.floor(over / span), np.mod(over, span)
    even = turns % 2 == 0
    below = np.where(even, low + rest, high - rest)
    above = np.where(even, high - rest, low + rest)
    return np.where(at < low, below, np.where(at > high, above, at)).astype(at.dtype)


def _grid_sample_rows(operator: Operator) -> Values | None:
    x, grid = operator.rows(0), operator.rows(1)
    batch = operator.count * x.shape[1]
    (y,) = operator.run(x.reshape(batch, *x.shape[2:]), grid.reshape(batch, *grid.shape[2:]))
    return (y.reshape(operator.count, -1, *y.shape[1:]),)


def _grid_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, grid = inputs[0].shape, at(inputs, 1).shape
    if shape is None or grid is None:
        return [UNKNOWN]
    equal(shape[0], grid[0], ConstraintCode.GRID_BATCHES)
    return plain((*shape[:2], *grid[1:-1]))


def _grid_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(-1.0, 1.0)


def _of_the_standard(body: Body) -> None:
    """Opset 20 calls bilinear linear, and bicubic cubic."""
    body.needs(16)
    mode = body.attribute("mode", "bilinear")
    if body.version >= 20:
        mode = _MODES.get(mode, mode)
    attributes = body.attributes("align_corners", "padding_mode")
    body.give(body.step("GridSample", body.input(0), body.input(1), mode=mode, **attributes))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "GridSample",
        rounding=sampling,
        kernel=grid_sample,
        batched=_grid_sample_rows,
        shape=_grid_shape,
        ranges=_grid_ranges,
        mutations=PICTURE | {"nearest-for-linear", "flip-align-corners", "grid-border"},
    ),
    *alike("GridSample", domain=MICROSOFT, decomposition=_of_the_standard),
)
