"""Pooling over windows and over whole feature maps."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.operators.convolution import _of_rank, padded, pads_of
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("MaxPool")
def max_pool(node: Node, x: Tensor) -> Any:
    """Indices count elements of the whole tensor, as in ONNX."""
    kernel = node.get("kernel_shape")
    rank = len(kernel)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    begin, end = pads_of(node, x, kernel, strides, dilations)
    ceil = bool(node.get("ceil_mode", 0)) and node.get("auto_pad", "NOTSET") == "NOTSET"
    narrow = x.dtype if not x.is_floating_point() else None
    widened = x.to(torch.float32) if narrow in (torch.int8, torch.uint8) else x
    function = _of_rank(node, rank, functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)
    fits = begin == end and all(2 * pad <= k for pad, k in zip(begin, kernel, strict=True))
    if fits and not node.wants(1):
        y = function(widened, kernel, strides, begin, dilations, ceil)
        return y if narrow is None else y.to(narrow)
    lowest = -float("inf") if widened.is_floating_point() else torch.iinfo(widened.dtype).min
    wide = padded(widened, begin, end, lowest)
    y, index = function(wide, kernel, strides, 0, dilations, ceil, return_indices=True)
    y = y if narrow is None else y.to(narrow)
    if not node.wants(1):
        return y
    return y, _global_index(index, x, wide, begin, column_major=bool(node.get("storage_order", 0)))


def _global_index(index: Tensor, x: Tensor, wide: Tensor, begin: list[int], *, column_major: bool) -> Tensor:
    """torch counts inside one padded feature map."""
    sizes, padded_sizes = list(x.shape[2:]), list(wide.shape[2:])
    coordinates = []
    for size in reversed(padded_sizes):
        coordinates.append(index % size)
        index = index // size
    coordinates = [coordinate - b for coordinate, b in zip(reversed(coordinates), begin, strict=True)]
    order = range(len(sizes) - 1, -1, -1) if column_major else range(len(sizes))
    flat = torch.zeros_like(coordinates[0])
    elements = 1
    for axis in order:
        flat = flat * sizes[axis] + coordinates[axis]
        elements *= sizes[axis]
    maps = torch.arange(x.shape[0] * x.shape[1], device=x.device).reshape(*x.shape[:2], *[1] * len(sizes))
    return flat + maps * elements


@operator("AveragePool")
def average_pool(node: Node, x: Tensor) -> Tensor:
    kernel = node.get("kernel_shape")
    rank = len(kernel)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    begin, end = pads_of(node, x, kernel, strides, dilations)
    include = bool(node.get("count_include_pad", 0))
    ceil = bool(node.get("ceil_mode", 0)) and node.get("auto_pad", "NOTSET") == "NOTSET"
    undilated = all(dilation == 1 for dilation in dilations)
    fits = begin == end and all(2 * pad <= k for pad, k in zip(begin, kernel, strict=True))
    if undilated and fits:
        function = _of_rank(node, rank, functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
        result: Tensor = function(x, kernel, strides, begin, ceil, include)
        return result
    ones = torch.ones_like(x[:1, :1])
    counted = padded(ones, begin, end, 1.0 if include else 0.0)
    values = padded(x, begin, end)
    if ceil:
        values, counted = (_to_ceil(tensor, kernel, strides, dilations) for tensor in (values, counted))
    return _window_sum(node, values, kernel, strides, dilations) / _window_sum(
        node, counted, kernel, strides, dilations
    )


def _to_ceil(x: Tensor, kernel: list[int], strides: list[int], dilations: list[int]) -> Tensor:
    """Zeros at the end, which are never counted, so that a started last window is whole; one that would start in the
    padding is left out."""
    more = []
    for size, k, s, d in zip(x.shape[2:], kernel, strides, dilations, strict=True):
        rest = (size - (k - 1) * d - 1) % s
        more.append(s - rest if rest else 0)
    return padded(x, [0] * len(more), more)


def _window_sum(node: Node, x: Tensor, kernel: list[int], strides: list[int], dilations: list[int]) -> Tensor:
    function = _of_rank(node, len(kernel), functional.conv1d, functional.conv2d, functional.conv3d)
    channels = x.shape[1]
    ones = torch.ones(channels, 1, *kernel, dtype=x.dtype, device=x.device)
    result: Tensor = function(x, ones, None, strides, 0, dilations, channels)
    return result


@operator("LpPool")
def lp_pool(node: Node, x: Tensor) -> Tensor:
    kernel, p = node.get("kernel_shape"), node.get("p", 2)
    strides, dilations = node.get("strides", [1] * len(kernel)), node.get("dilations", [1] * len(kernel))
    begin, end = pads_of(node, x, kernel, strides, dilations)
    powers = padded(torch.abs(x) ** p, begin, end)
    if node.get("ceil_mode", 0):
        powers = _to_ceil(powers, kernel, strides, dilations)
    return _window_sum(node, powers, kernel, strides, dilations) ** (1.0 / p)


@operator("GlobalAveragePool")
def global_average_pool(node: Node, x: Tensor) -> Tensor:
    return torch.mean(x, list(range(2, x.ndim)), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(node: Node, x: Tensor) -> Tensor:
    return torch.amax(x, list(range(2, x.ndim)), keepdim=True)


@operator("GlobalLpPool")
def global_lp_pool(node: Node, x: Tensor) -> Tensor:
    p = node.get("p", 2)
    return torch.sum(torch.abs(x) ** p, list(range(2, x.ndim)), keepdim=True) ** (1.0 / p)


@operator("MaxUnpool", host=(2,))
def max_unpool(node: Node, x: Tensor, indices: Tensor, shape: Any = None) -> Tensor:
    """Indices count elements of the tensor that was pooled, before `output_shape` pads it."""
    from assay.onnx_to_torch.values import ints

    kernel = node.get("kernel_shape")
    rank = len(kernel)
    strides = node.get("strides", [1] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    sizes = [
        (n - 1) * s + k - pads[i] - pads[i + rank]
        for i, (n, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    small = [*x.shape[:2], *sizes]
    total = 1
    for size in small:
        total *= size
    flat = torch.zeros(total, dtype=x.dtype, device=x.device)
    result = flat.scatter(0, indices.reshape(-1), x.reshape(-1)).reshape(small)
    if shape is None:
        return result
    more = [target - size for target, size in zip(ints(shape)[2:], sizes, strict=True)]
    return padded(result, [0] * rank, more)
