"""Convolutions, their padding, and what undoes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.numerics.shapes.windows import is_negative_same
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("Conv")
def conv(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """One to three spatial dimensions; uneven padding becomes a pad of its own."""
    spatial = list(weight.shape[2:])
    strides = node.get("strides", [1] * len(spatial))
    dilations = node.get("dilations", [1] * len(spatial))
    begin, end = pads_of(node, x, node.get("kernel_shape", spatial), strides, dilations)
    if begin != end:
        x, begin = padded(x, begin, end), [0] * len(spatial)
    function = _of_rank(node, len(spatial), functional.conv1d, functional.conv2d, functional.conv3d)
    result: Tensor = function(x, weight, bias, strides, begin, dilations, node.get("group", 1))
    return result


@operator("ConvInteger")
def conv_integer(
    node: Node, x: Tensor, weight: Tensor, x_zero: Tensor | None = None, w_zero: Tensor | None = None
) -> Tensor:
    """Exact in float64 up to 2**53; the zero point is what padding stands for."""
    wide, kernel = x.to(torch.float64), weight.to(torch.float64)
    if x_zero is not None:
        wide = wide - x_zero.to(torch.float64)
    if w_zero is not None:
        zero = w_zero.to(torch.float64)
        kernel = kernel - (zero.reshape(-1, *[1] * (weight.ndim - 1)) if zero.numel() > 1 else zero)
    return conv(node, wide, kernel).to(torch.int32)


@operator("ConvTranspose")
def conv_transpose(node: Node, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Uneven padding is cropped after the full result, as the standard defines it."""
    kernel = node.get("kernel_shape", list(weight.shape[2:]))
    rank = len(kernel)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    extra = node.get("output_padding", [0] * rank)
    full = [
        s * (n - 1) + o + (k - 1) * d + 1
        for s, n, o, k, d in zip(strides, x.shape[2:], extra, kernel, dilations, strict=True)
    ]
    output_shape = node.get("output_shape")
    auto = node.get("auto_pad", "NOTSET")
    if output_shape is not None:
        output_shape = output_shape[-rank:]
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        output_shape = [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
        if is_negative_same(kernel, node.attributes):
            raise node.unsupported(noted(ConversionCode.NEGATIVE_SAME, padding=auto))
    if output_shape is not None:
        totals = [size - wanted_size for size, wanted_size in zip(full, output_shape, strict=True)]
        small = [total // 2 for total in totals]
        large = [total - half for total, half in zip(totals, small, strict=True)]
        begin, end = (small, large) if auto == "SAME_UPPER" else (large, small)
    else:
        pads = node.get("pads", [0] * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
        begin, end = pads[:rank], pads[rank:]
    function = _of_rank(
        node, rank, functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d
    )
    group = node.get("group", 1)
    if (
        begin == end
        and all(pad >= 0 for pad in begin)
        and all(o < max(s, d) for o, s, d in zip(extra, strides, dilations, strict=True))
    ):
        result: Tensor = function(x, weight, bias, strides, begin, extra, group, dilations)
        return result
    # torch takes an output padding below the stride only; zeros at the end are what it stands for.
    result = function(x, weight, None, strides, 0, 0, group, dilations)
    result = padded(result, [-pad for pad in begin], [o - pad for o, pad in zip(extra, end, strict=True)])
    return result if bias is None else result + bias.reshape(1, -1, *[1] * rank)


@operator("DeformConv")
def deform_conv(
    node: Node, x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Two spatial dimensions: every tap of the kernel is sampled bilinearly where its offset points, zeros outside."""
    from assay.onnx_to_torch.operators.sampling import bilinear

    if weight.ndim != 4:
        raise node.unsupported(noted(ConversionCode.TWO_SPATIAL_DIMENSIONS))
    strides, dilations = node.get("strides", [1, 1]), node.get("dilations", [1, 1])
    height, width = weight.shape[2:]
    begin, _end = pads_of(node, x, [height, width], strides, dilations)
    batch, channels = x.shape[:2]
    rows, columns = offset.shape[2:]
    groups = node.get("offset_group", 1)
    taps = height * width
    offsets = offset.reshape(batch * groups, taps, 2, rows, columns)
    device = x.device
    base_y = torch.arange(rows, device=device, dtype=x.dtype)[:, None] * strides[0] - begin[0]
    base_x = torch.arange(columns, device=device, dtype=x.dtype)[None, :] * strides[1] - begin[1]
    image = x.reshape(batch * groups, channels // groups, *x.shape[2:])
    sampled = []
    for tap in range(taps):
        y = base_y + (tap // width) * dilations[0] + offsets[:, tap, 0]
        z = base_x + (tap % width) * dilations[1] + offsets[:, tap, 1]
        values = bilinear(image, y, z)
        if mask is not None:
            values = values * mask.reshape(batch * groups, taps, 1, rows, columns)[:, tap]
        sampled.append(values.reshape(batch, channels, rows, columns))
    columns_of = torch.stack(sampled, 2)
    group = node.get("group", 1)
    patches = columns_of.reshape(batch, group, channels // group * taps, rows * columns)
    kernels = weight.reshape(group, weight.shape[0] // group, channels // group * taps)
    result = torch.einsum("bgkp,gok->bgop", patches, kernels).reshape(batch, weight.shape[0], rows, columns)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)


@operator("Col2Im", host=(1, 2))
def col2im(node: Node, x: Tensor, image: Any, block: Any) -> Tensor:
    from assay.onnx_to_torch.values import ints

    size, kernel = tuple(ints(image)), tuple(ints(block))
    if len(size) != 2:
        return _col2im_any_rank(node, x, size, kernel)
    pads = node.get("pads", [0, 0, 0, 0])
    padded_size = tuple(n + b + e for n, b, e in zip(size, pads[:2], pads[2:], strict=True))
    whole = functional.fold(x, padded_size, kernel, node.get("dilations", [1, 1]), 0, node.get("strides", [1, 1]))
    return padded(whole, [-pad for pad in pads[:2]], [-pad for pad in pads[2:]])


def _col2im_any_rank(node: Node, x: Tensor, size: Sequence[int], kernel: Sequence[int]) -> Tensor:
    """Every block's columns are added where they came from."""
    rank = len(size)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    whole = [n + pads[i] + pads[i + rank] for i, n in enumerate(size)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(whole, dilations, kernel, strides, strict=True)]
    index = torch.zeros([1] * 2 * rank, dtype=torch.int64, device=x.device)
    for i in range(rank):
        taps = torch.arange(kernel[i], device=x.device) * dilations[i]
        steps = torch.arange(counts[i], device=x.device) * strides[i]
        shape = [1] * 2 * rank
        shape[i], shape[rank + i] = kernel[i], counts[i]
        index = index * whole[i] + (taps[:, None] + steps[None, :]).reshape(shape)
    elements = 1
    for length in kernel:
        elements *= length
    values = x.reshape(x.shape[0], x.shape[1] // elements, -1)
    total = 1
    for length in whole:
        total *= length
    result = torch.zeros(*values.shape[:2], total, dtype=x.dtype, device=x.device)
    result = result.index_add(2, index.reshape(-1), values).reshape(*values.shape[:2], *whole)
    return padded(result, [-pad for pad in pads[:rank]], [-pad for pad in pads[rank:]])


def pads_of(
    node: Node, x: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Padding at the begin and at the end of each spatial dimension, from `pads` or `auto_pad`."""
    rank = len(kernel)
    auto = node.get("auto_pad", "NOTSET")
    if auto == "NOTSET":
        pads = node.get("pads", [0] * 2 * rank)
        return list(pads[:rank]), list(pads[rank:])
    if auto == "VALID":
        return [0] * rank, [0] * rank
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.unsupported(noted(ConversionCode.AUTO_PAD, padding=auto))
    totals = []
    for size, k, s, d in zip(x.shape[2:], kernel, strides, dilations, strict=True):
        out = (size + s - 1) // s
        missing = (out - 1) * s + (k - 1) * d + 1 - size
        totals.append(missing if missing > 0 else 0)
    small = [total // 2 for total in totals]
    large = [total - half for total, half in zip(totals, small, strict=True)]
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def padded(x: Tensor, begin: Sequence[Any], end: Sequence[Any], value: float = 0.0) -> Tensor:
    """The last dimensions padded, or cropped where negative."""
    pads = [pad for b, e in zip(reversed(begin), reversed(end), strict=True) for pad in (b, e)]
    return functional.pad(x, pads, value=value) if any(pad != 0 for pad in pads) else x


def _of_rank(node: Node, rank: int, *functions: Any) -> Any:
    if not 1 <= rank <= len(functions):
        raise node.unsupported(noted(ConversionCode.SPATIAL_DIMENSIONS, most=len(functions), rank=rank))
    return functions[rank - 1]
