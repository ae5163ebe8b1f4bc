"""Convolution and pooling for onnx.reference, as sums over kernel offsets: whole images at a time, not pixel by pixel.

A window operator is a loop over the few positions of its kernel; at each, one strided slice of the padded input meets
one slice of the weights. Other element types than float32 and float64 go to onnx.reference's own code, whose rounding
they are there to show. Definitions: the ONNX operator specification, Conv-22, ConvTranspose-22, MaxPool-22,
AveragePool-22.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_average_pool import AveragePool_19
from onnx.reference.ops.op_conv import Conv as _Conv
from onnx.reference.ops.op_conv_transpose import ConvTranspose as _ConvTranspose
from onnx.reference.ops.op_max_pool import MaxPool as _MaxPool

from assay.numerics.attributes import auto_pad_of, stated
from assay.numerics.oracle.chunked import AT_ONCE, in_chunks
from assay.numerics.oracle.parallel import in_threads
from assay.numerics.oracle.windows import Block, Window, averaged_under, window_of
from assay.numerics.shapes.windows import is_negative_same
from assay.ports import Tensor

_FAST = ("float32", "float64")
COLUMNS = 1 << 19
"""Numbers under several windows that are gathered for one product of matrices."""

GATHERED = 2
"""Channels made of one, from which on a product of matrices takes less time than sums of slices: two thirds of it for 2 and windows
of 5 x 5, a fiftieth for 512 and windows of 320."""


class Conv(_Conv):
    """Y[n, m, i] = B[m] + sum over channels c of the group and offsets k: W[m, c, k] X[n, c, stride i + dilation k]."""

    op_domain = ""

    def _run(self, x: Tensor, w: Tensor, b: Tensor | None = None, **attributes: Any) -> tuple[Tensor, ...]:
        groups = stated(attributes, "group", 1)
        fits = x.ndim > 2 and x.shape[1] == w.shape[1] * groups and w.shape[0] % groups == 0
        if x.dtype.name not in _FAST or not fits:
            return _own(super()._run(x, w, b, **attributes))
        return (convolved(x, w, b, attributes),)


class ConvTranspose(_ConvTranspose):
    """The transpose of Conv as a linear map: each input element adds W[c, m, k] X[n, c, i] at stride i + dilation k."""

    op_domain = ""

    def _run(self, x: Tensor, w: Tensor, b: Tensor | None = None, **attributes: Any) -> tuple[Tensor, ...]:
        groups = stated(attributes, "group", 1)
        if (
            x.dtype.name not in _FAST
            or x.ndim < 3
            or x.shape[1] != w.shape[0]
            or w.shape[0] % groups
            or is_negative_same(w.shape[2:], attributes)
        ):
            return _own(super()._run(x, w, b, **attributes))
        size, kernel = x.shape[2:], w.shape[2:]
        strides = tuple(stated(attributes, "strides", [1] * len(size)))
        dilations = tuple(stated(attributes, "dilations", [1] * len(size)))
        whole = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(size, strides, kernel, dilations, strict=True)]
        begin, out = _crop(whole, size, strides, attributes)
        canvas_size = [max(n, first + count) for n, first, count in zip(whole, begin, out, strict=True)]
        canvas = np.zeros((x.shape[0], w.shape[1] * groups, *canvas_size), x.dtype)
        weights = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
        flat = x.reshape(x.shape[0], groups, w.shape[0] // groups, math.prod(size))
        for offset in np.ndindex(*kernel):
            rows = zip(offset, dilations, strides, size, strict=True)
            where: Any = (..., *(slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, s, n in rows))
            at: Any = (..., *offset)
            canvas[where] += _product(weights[at], flat).reshape(x.shape[0], -1, *size)
        kept: Any = (..., *(slice(first, first + count) for first, count in zip(begin, out, strict=True)))
        return (_biased(canvas[kept], b),)


class MaxPool(_MaxPool):
    """The largest element under the window; padding never wins. A second output says where in the whole input it was, the first
    of equals (onnx.reference 1.23 has others where strides are 1)."""

    op_domain = ""

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor, ...]:
        kernel = attributes["kernel_shape"]
        if x.dtype.name not in (*_FAST, "int8", "uint8"):
            return _own(super()._run(x, **attributes))
        window = window_of(x.shape[2:], kernel, attributes)
        lowest = -math.inf if x.dtype.kind == "f" else int(np.iinfo(x.dtype).min)
        padded = window.pad(x, lowest)
        y = np.full((*x.shape[:2], *window.out), lowest, x.dtype)
        for part in in_chunks(y.shape):
            image, into = padded[part], y[part]
            for _, where in window.positions():
                np.maximum(into, image[where], out=into)
        if len(self.output) == 1:
            return (y,)
        numbers = np.arange(math.prod(x.shape[2:]), dtype=np.int64)
        by_columns = attributes.get("storage_order")
        plane = numbers.reshape(x.shape[:1:-1]).T if by_columns else numbers.reshape(x.shape[2:])
        places, array = window.pad(plane[None, None], -1), np.full(y.shape, -1, np.int64)
        for _, where in window.positions():
            here = padded[where]
            wins = (here == y) | (here != here)  # NaN, too
            array = np.where((array < 0) & (places[where] >= 0) & wins, places[where], array)
        planes = np.arange(math.prod(x.shape[:2]), dtype=np.int64).reshape(*x.shape[:2], *[1] * (x.ndim - 2))
        return y, array + planes * len(numbers)


class AveragePool(AveragePool_19):
    """The mean under the window, of the elements inside the input, or inside the padding with count_include_pad."""

    op_domain = ""

    def _run(self, x: Tensor, **attributes: Any) -> tuple[Tensor, ...]:
        kernel = attributes["kernel_shape"]
        if x.dtype.name not in _FAST:
            return _own(super()._run(x, **attributes))
        window = window_of(x.shape[2:], kernel, attributes)
        padded, total = window.pad(x, 0), np.zeros((*x.shape[:2], *window.out), x.dtype)
        for _, where in window.positions():
            total += padded[where]
        count = averaged_under(window, x.shape[2:], attributes).astype(x.dtype)
        return (total / count,)


def convolved(x: Tensor, w: Tensor, b: Tensor | None, attributes: Mapping[str, Any]) -> Tensor:
    """The convolution of ONNX in the type of its operands; they must fit each other."""
    groups = stated(attributes, "group", 1)
    window = window_of(x.shape[2:], w.shape[2:], attributes)
    inside, out, places = w.shape[1], w.shape[0] // groups, math.prod(window.out)
    padded = window.pad(x, 0)
    padded = padded.reshape(x.shape[0], groups, inside, *padded.shape[2:])
    weights = w.reshape(groups, out, *w.shape[1:])
    y: Tensor = np.empty((x.shape[0], groups, out, places), x.dtype)
    step = max(1, AT_ONCE // max(1, out * places))
    images = max(1, step // groups)
    weights = _as_columns(weights) if _is_gathered(weights) else weights
    parts = (
        (padded[part], weights[part[1]], y[part], block)
        for image in range(0, len(y), images)
        for first in range(0, groups, step)
        for part in [(slice(image, image + images), slice(first, first + step))]
        for block in _blocks(padded[part], weights, window)
    )
    summed = _gathered if weights.ndim == 3 else _summed
    in_threads(lambda part: summed(*part, window), parts, y.size * inside * math.prod(window.kernel))
    y = y.reshape(x.shape[0], w.shape[0], *window.out)
    if b is not None and b.dtype == y.dtype:
        y += b.reshape(-1, *[1] * len(window.out))
        return y
    return _biased(y, b)


def _is_gathered(weights: Tensor) -> bool:
    """A channel by itself that makes one is multiplied where it lies, and so is what has no window."""
    return bool(weights.shape[2] > 1 or weights.shape[1] >= GATHERED) and math.prod(weights.shape[3:]) > 1


def _as_columns(weights: Tensor) -> Tensor:
    """(groups, out, in, kernel ...) as (groups, out, all that one output is made of), the channel last."""
    return np.moveaxis(weights, 2, -1).reshape(*weights.shape[:2], -1)


def _blocks(image: Tensor, weights: Tensor, window: Window) -> Iterator[Block]:
    """Parts of the output that are made at once: all of it where nothing is gathered."""
    gathered = math.prod(image.shape[:2]) * weights.shape[-1]
    return window.blocks(COLUMNS // max(1, gathered) if weights.ndim == 3 else math.prod(window.out))


def _summed(image: Tensor, weights: Tensor, into: Tensor, part: Block, window: Window) -> None:
    """The sum over all offsets of some groups of some images, written over what was there."""
    del part
    single = weights.shape[2] == 1 and weights.shape[1] < GATHERED
    shape = (*image.shape[:3], *window.out) if single else (*image.shape[:3], into.shape[-1])
    into = into.reshape(*into.shape[:3], *window.out) if single else into
    product: Tensor = np.empty_like(into)
    for number, (offset, where) in enumerate(window.positions()):
        weight, windows = weights[offset], image[where].reshape(shape)
        made = product if number else into
        if single:
            np.multiply(weight.reshape(*weight.shape[:2], *[1] * len(window.out)), windows, out=made)
        else:
            np.matmul(weight, windows, out=made)
        if number:
            np.add(into, product, out=into)


def _gathered(image: Tensor, weights: Tensor, into: Tensor, part: Block, window: Window) -> None:
    """The same by one product for a part of the output: what lies under each of its windows is a column."""
    offsets, inside = math.prod(window.kernel), image.shape[2]
    begin, out = part
    first, count = int(np.ravel_multi_index(begin, window.out)), math.prod(out)
    columns: Tensor = np.empty((*image.shape[:2], offsets, inside, *out), image.dtype)
    for number, (_, where) in enumerate(window.positions(part)):
        columns[:, :, number] = image[where]
    flat = columns.reshape(*image.shape[:2], offsets * inside, count)
    np.matmul(weights, flat, out=into[..., first : first + count])


class LpPool(OpRun):
    """(sum of |x|^p)^(1/p) under the window; padding adds nothing. That of onnx.reference 1.23 counts a window that steps over the end
    as if its elements were more, and passes over what is no number."""

    op_domain = ""

    def _run(self, x: Tensor, p: Any = None, kernel_shape: Any = None, **attributes: Any) -> tuple[Tensor]:
        order = 2 if p is None else p
        window = window_of(x.shape[2:], kernel_shape, attributes)
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        powers = window.pad(np.abs(wide) ** order, 0)
        total: Tensor = np.zeros((*x.shape[:2], *window.out), wide.dtype)
        for _, where in window.positions():
            total += powers[where]
        return ((total ** (1 / order)).astype(x.dtype),)


def _own(result: Any) -> tuple[Tensor, ...]:
    arrays: tuple[Tensor, ...] = result
    return arrays


def _product(weights: Tensor, part: Tensor) -> Tensor:
    """(groups, out, in) times (batch, groups, in, places). Where `in` is 1, multiplying is faster than matmul."""
    product: Tensor = weights * part if weights.shape[-1] == 1 else weights @ part
    return product


def _biased(y: Tensor, b: Tensor | None) -> Tensor:
    return y if b is None else y + b.reshape(-1, *[1] * (y.ndim - 2))


def _crop(
    whole: Sequence[int], size: Sequence[int], strides: Sequence[int], attributes: Mapping[str, Any]
) -> tuple[list[int], list[int]]:
    """What of the whole transposed convolution is kept: first element and count, per axis."""
    axes = len(size)
    extra = stated(attributes, "output_padding", [0] * axes)
    auto_pad = auto_pad_of(attributes)
    output_shape = attributes.get("output_shape")
    if output_shape is None and auto_pad.startswith("SAME"):
        output_shape = [n * s for n, s in zip(size, strides, strict=True)]
    if output_shape is None:
        pads = stated(attributes, "pads", [0] * (2 * axes))
        out = [n + more - pads[i] - pads[i + axes] for i, (n, more) in enumerate(zip(whole, extra, strict=True))]
        return list(pads[:axes]), out
    totals = [max(0, n + more - count) for n, more, count in zip(whole, extra, output_shape[-axes:], strict=True)]
    return [t // 2 if auto_pad == "SAME_UPPER" else t - t // 2 for t in totals], list(output_shape[-axes:])
