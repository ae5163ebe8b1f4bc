"""Rearranging: the same elements in another shape or order. Shapes are numbers while they are known."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import ints, scalar

Tensor = torch.Tensor


@operator("Reshape", host=(1,))
def reshape(node: Node, x: Tensor, shape: Any) -> Tensor:
    """0 copies the dimension, unless allowzero."""
    target = ints(shape)
    if not node.get("allowzero", 0):
        target = [x.shape[i] if isinstance(size, int) and size == 0 else size for i, size in enumerate(target)]
    if any(isinstance(size, int) and size == 0 for size in x.shape) and -1 in [
        size for size in target if isinstance(size, int)
    ]:
        # Nothing is left to tell the size of -1 from: what is given is compared with what is there.
        target = [_missing(x, target) if isinstance(size, int) and size == -1 else size for size in target]
    return torch.reshape(x, target)


def _missing(x: Tensor, target: list[Any]) -> Any:
    """The size for -1 in a tensor without elements: what the non-empty dimensions leave over."""
    there, given = 1, 1
    for size in x.shape:
        there *= size or 1
    for size in target:
        given *= size if isinstance(size, int) and size > 0 else 1
    return there // given if 0 in target else 0


@operator("Flatten")
def flatten(node: Node, x: Tensor) -> Tensor:
    axis = node.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    if axis == 1 and x.ndim > 1:
        return torch.flatten(x, 1)
    if axis == 0:
        return x.reshape(1, x.numel())
    rows: Any = 1
    for size in x.shape[:axis]:
        rows = rows * size
    columns: Any = 1
    for size in x.shape[axis:]:
        columns = columns * size
    return x.reshape(rows, columns)


@operator("Transpose")
def transpose(node: Node, x: Tensor) -> Tensor:
    order = node.get("perm", list(reversed(range(x.ndim))))
    return x.permute(order) if x.ndim else x


@operator("Squeeze", host=(1,))
def squeeze(node: Node, x: Tensor, axes: Any = None) -> Tensor:
    where = node.get("axes") if axes is None else ints(axes)
    if where is None:
        return torch.squeeze(x)
    where = sorted({axis % x.ndim for axis in where})
    for axis in where:
        if x.shape[axis] != 1:
            raise node.failed(noted(ConversionCode.DIMENSION_NOT_ONE, axis=axis, size=str(x.shape[axis])))
    return torch.squeeze(x, where)


@operator("Unsqueeze", host=(1,))
def unsqueeze(node: Node, x: Tensor, axes: Any = None) -> Tensor:
    where = node.get("axes") if axes is None else ints(axes)
    rank = x.ndim + len(where)
    for axis in sorted(axis % rank for axis in where):
        x = torch.unsqueeze(x, axis)
    return x


@operator("Concat")
def concat(node: Node, *parts: Tensor) -> Tensor:
    return torch.cat(parts, node.get("axis"))


@operator("Split", host=(1,))
def split(node: Node, x: Tensor, sizes: Any = None) -> Any:
    """Equal parts, the last one smaller where it does not come out even."""
    axis = node.get("axis", 0)
    each = node.get("split") if sizes is None else ints(sizes)
    if each is None:
        count = node.get("num_outputs", len(node.outputs))
        chunk = -(-x.shape[axis] // count)
        each = [chunk] * (count - 1)
        each.append(x.shape[axis] - chunk * (count - 1))
    return tuple(torch.split(x, each, axis))


@operator("Expand", host=(1,))
def expand(node: Node, x: Tensor, shape: Any) -> Tensor:
    """To the broadcast of both shapes."""
    target = ints(shape)
    rank = max(len(target), x.ndim)
    here = [1] * (rank - x.ndim) + list(x.shape)
    there = [1] * (rank - len(target)) + target
    both = [a if isinstance(b, int) and b == 1 else b for a, b in zip(here, there, strict=True)]
    return x.expand(both)


@operator("Tile", host=(1,))
def tile(node: Node, x: Tensor, repeats: Any) -> Tensor:
    return x.repeat(ints(repeats))


@operator("Slice", host=(1, 2, 3, 4))
def slice_(node: Node, x: Tensor, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Tensor:
    begin = node.get("starts") if starts is None else ints(starts)
    end = node.get("ends") if ends is None else ints(ends)
    where = node.get("axes") if axes is None else ints(axes)
    where = list(range(len(begin))) if where is None else where
    stride = [1] * len(begin) if steps is None else ints(steps)
    for axis, start, stop, step in zip(where, begin, end, stride, strict=True):
        x = _sliced(x, axis % x.ndim, start, stop, step)
    return x


def _sliced(x: Tensor, axis: int, start: Any, stop: Any, step: int) -> Tensor:
    if step > 0:
        index = [slice(None)] * axis + [slice(start, stop, step)]
        return x[tuple(index)]
    # torch has no negative steps: reversed first, counted from the other end.
    size = x.shape[axis]
    first = _clamp(start + size if start < 0 else start, -1, size - 1)
    last = _clamp(stop + size if stop < 0 else stop, -1, size - 1)
    flipped = torch.flip(x, [axis])
    index = [slice(None)] * axis + [slice(size - 1 - first, size - 1 - last, -step)]
    return flipped[tuple(index)]


def _clamp(value: Any, low: Any, high: Any) -> Any:
    return low if value < low else high if value > high else value


@operator("Pad", host=(1, 2, 3))
def pad(node: Node, x: Tensor, pads: Any = None, value: Any = None, axes: Any = None) -> Tensor:
    amounts = node.get("pads") if pads is None else ints(pads)
    where = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in ints(axes)]
    fill = node.get("value", 0.0) if value is None else scalar(value)
    begin, end = [0] * x.ndim, [0] * x.ndim
    for axis, low, high in zip(where, amounts[: len(where)], amounts[len(where) :], strict=True):
        begin[axis], end[axis] = low, high
    mode = node.get("mode", "constant")
    if mode == "constant":
        return _constant_pad(x, begin, end, fill)
    for axis in range(x.ndim):
        x = _mirrored(node, x, axis, begin[axis], end[axis], mode)
    return x


def _constant_pad(x: Tensor, begin: list[Any], end: list[Any], fill: Any) -> Tensor:
    pairs = [pad_width for low, high in zip(reversed(begin), reversed(end), strict=True) for pad_width in (low, high)]
    while len(pairs) > 2 and pairs[-2:] == [0, 0]:
        pairs = pairs[:-2]
    if isinstance(fill, Tensor):
        inside = functional.pad(torch.ones_like(x, dtype=torch.bool), pairs, value=False)
        return torch.where(inside, functional.pad(x, pairs), fill.to(x.dtype))
    return functional.pad(x, pairs, value=fill)


def _mirrored(node: Node, x: Tensor, axis: int, low: Any, high: Any, mode: str) -> Tensor:
    """One axis by the index of where each element comes from: any rank, any amount."""
    if isinstance(low, int) and isinstance(high, int) and low == 0 and high == 0:
        return x
    size = x.shape[axis]
    index = torch.arange(-low, size + high, device=x.device)
    if mode == "edge":
        index = torch.clamp(index, 0, size - 1)
    elif mode == "wrap":
        index = torch.remainder(torch.remainder(index, size) + size, size)  # also where the sign is the dividend's
    elif mode == "reflect":
        period = 2 * (size - 1)
        # A mirror at 0 first: ExecuTorch's remainder (1.4) of a negative whole number has the sign of the dividend.
        index = torch.remainder(torch.abs(index), period) if period > 0 else torch.zeros_like(index)
        index = torch.where(index >= size, period - index, index)
    else:
        raise node.unsupported(noted(ConversionCode.MODE, mode=mode))
    return torch.index_select(x, axis, index)


@operator("DepthToSpace")
def depth_to_space(node: Node, x: Tensor) -> Tensor:
    block = node.get("blocksize")
    batch, channels, height, width = x.shape
    each = channels // (block * block)
    if node.get("mode", "DCR") == "CRD":
        return functional.pixel_shuffle(x, block)
    parts = x.reshape(batch, block, block, each, height, width).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(batch, each, height * block, width * block)


@operator("SpaceToDepth")
def space_to_depth(node: Node, x: Tensor) -> Tensor:
    block = node.get("blocksize")
    batch, channels, height, width = x.shape
    if node.get("mode", "DCR") == "CRD":
        return functional.pixel_unshuffle(x, block)
    parts = x.reshape(batch, channels, height // block, block, width // block, block).permute(0, 3, 5, 1, 2, 4)
    return parts.reshape(batch, channels * block * block, height // block, width // block)


@operator("CenterCropPad", host=(1,))
def center_crop_pad(node: Node, x: Tensor, shape: Any) -> Tensor:
    """Cropping drops the smaller half before, padding adds the smaller half before."""
    axes = [axis % x.ndim for axis in node.get("axes", range(x.ndim))]
    begin, end = [0] * x.ndim, [0] * x.ndim
    for axis, target in zip(axes, ints(shape), strict=True):
        difference = target - x.shape[axis]
        if difference < 0:
            low = (-difference) // 2
            begin[axis], end[axis] = -low, difference + low
        else:
            low = difference // 2
            begin[axis], end[axis] = low, difference - low
    return _constant_pad(x, begin, end, 0)


@operator("ReverseSequence", host=())
def reverse_sequence(node: Node, x: Tensor, lengths: Tensor) -> Tensor:
    time, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    steps = torch.arange(x.shape[time], device=x.device)
    index = torch.where(steps[:, None] < lengths[None, :], lengths[None, :] - 1 - steps[:, None], steps[:, None])
    index = index if time < batch else index.t()
    shape = [1] * x.ndim
    shape[time], shape[batch] = x.shape[time], x.shape[batch]
    return torch.gather(x, time, index.reshape(shape).expand(x.shape))
